/* page.js: sorting, hiding, copying, and records without their compression. Without it the page says the same. */
(function () {
  'use strict';
  const all = (selector, root) => Array.from((root || document).querySelectorAll(selector));
  const rowsOf = body => all('tr:not(.g)', body);
  const unit = {ns: 1e-9, 'µs': 1e-6, ms: 1e-3, s: 1}; /* of times, which have a bar: a style */
  const value = (row, column) => {
    const cell = row.cells[column];
    const text = cell ? (cell.dataset.v !== undefined ? cell.dataset.v : cell.textContent.trim()) : '';
    const number = parseFloat(text.replace(/,/g, '')) * (cell && cell.style.length ? unit[text.split(' ')[1]] || 1 : 1);
    return {text, number, none: text === ''};
  };
  const compare = (a, b) => a.none !== b.none ? (a.none ? 1 : -1) * (compare.down ? -1 : 1)
    : !isNaN(a.number) && !isNaN(b.number) ? a.number - b.number : a.text.localeCompare(b.text);

  /* Each group by itself: what is in different groups is not to be compared. */
  const sort = (button) => {
    const head = button.closest('th'), table = button.closest('table'), column = head.cellIndex;
    compare.down = head.getAttribute('aria-sort') === 'ascending';
    all('th[aria-sort]', table).forEach(other => other.removeAttribute('aria-sort'));
    head.setAttribute('aria-sort', compare.down ? 'descending' : 'ascending');
    all('tbody', table).forEach(body => {
      const rows = rowsOf(body).map(row => ({row, key: value(row, column)}));
      rows.sort((a, b) => (compare.down ? -1 : 1) * compare(a.key, b.key));
      body.append(...rows.map(item => item.row));
    });
  };

  const filter = data => {
    const words = data.querySelector('.f').value.toLowerCase().split(/\s+/).filter(Boolean);
    const doubted = data.querySelector('.d').checked;
    all('tbody', data).forEach(body => {
      const title = body.querySelector('.g');
      const heading = title ? title.textContent.toLowerCase() : '';
      let any = false;
      rowsOf(body).forEach(row => {
        const text = heading + ' ' + row.textContent.toLowerCase();
        row.hidden = (doubted && !row.classList.contains('k')) || !words.every(word => text.includes(word));
        any = any || !row.hidden;
      });
      body.hidden = !any;
    });
  };

  const commandOf = button => {
    const row = button.closest('tr');
    if (!row) return button.previousElementSibling.textContent;
    const own = button.parentElement.dataset; /* m: what is in the place of the row's name; s: settings */
    const shared = all('.g code span', button.closest('tbody')).map(part => part.textContent);
    const word = own.m !== undefined ? own.m : row.cells[0].firstChild.textContent.trim();
    return shared[0] + word + shared[1] + (own.s || '') + shared[2];
  };
  const copyByHand = text => { /* where a page may not write to the clipboard by itself */
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done ? Promise.resolve() : Promise.reject(new Error('not copied'));
  };
  const copy = button => {
    const text = commandOf(button);
    const say = word => { button.textContent = word; setTimeout(() => { button.textContent = 'copy'; }, 1500); };
    (navigator.clipboard ? navigator.clipboard.writeText(text).catch(() => copyByHand(text)) : copyByHand(text))
      .then(() => say('copied'), () => window.prompt('', text));
  };

  const save = (link, event) => { /* as it was, where the browser can; else the link's own, compressed */
    if (typeof DecompressionStream === 'undefined' || link.dataset.busy) return;
    event.preventDefault();
    const bytes = Uint8Array.from(atob(link.href.slice(link.href.indexOf(',') + 1)), letter => letter.charCodeAt(0));
    new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).blob().then(blob => {
      const plain = document.createElement('a');
      plain.href = URL.createObjectURL(blob);
      plain.download = link.dataset.n;
      plain.click();
      setTimeout(() => URL.revokeObjectURL(plain.href), 10000);
    });
  };

  document.addEventListener('click', event => {
    const at = event.target.closest('.s, .c, .r');
    if (!at) return;
    if (at.classList.contains('s')) sort(at);
    else if (at.classList.contains('c')) copy(at);
    else save(at, event);
  });
  all('.data tbody tr:not(.g) td:last-child:not(.n)').forEach(cell => { /* they are many, and nothing without this script */
    const button = document.createElement('button');
    button.className = 'c';
    button.textContent = 'copy';
    cell.append(button);
  });
  all('.data').forEach(data => data.querySelector('.tools').addEventListener('input', () => filter(data)));
  document.documentElement.classList.add('js');
}());
