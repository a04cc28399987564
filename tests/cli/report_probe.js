/* report_probe.js: put into a copy of a page of `benchcnn report`: sorts, filters, measures, and tells the frame around it. */
(function () {
  const said = [], all = (s, root) => Array.from((root || document).querySelectorAll(s));
  const rowsOf = body => Array.from(body.rows).filter(row => !row.classList.contains('g'));
  const key = (row, column) => {
    const cell = row.cells[column], text = !cell ? '' : cell.dataset.v !== undefined ? cell.dataset.v : cell.textContent.trim();
    const time = cell && cell.style.length && /^([0-9.,]+) (ns|µs|ms|s)$/.exec(text); /* beside a bar: sorted by what it is */
    return {text, number: time ? parseFloat(time[1].replace(/,/g, '')) * {ns: 1e-9, 'µs': 1e-6, ms: 1e-3, s: 1}[time[2]] : parseFloat(text.replace(/,/g, ''))};
  };
  /* Whether a body is in order: numbers by size, words by the alphabet; nothing is last. Columns that mix them have no order. */
  const ordered = (body, column, sign) => {
    const keys = rowsOf(body).map(row => key(row, column)), filled = keys.filter(k => k.text !== ''), numbers = filled.filter(k => !isNaN(k.number));
    if (keys.slice(0, filled.length).some(k => k.text === '')) return false;
    if (numbers.length !== filled.length && numbers.length !== 0) return true;
    return filled.every((k, i) => i === 0 || sign * (numbers.length ? k.number - filled[i - 1].number : k.text.localeCompare(filled[i - 1].text)) >= 0);
  };
  const sorts = (table, words, sign) => all('thead .s', table).every(button => {
    const head = button.closest('th');
    for (let i = 0; i < (sign > 0 ? 1 : 2); i++) button.click();
    return head.getAttribute('aria-sort') === words && Array.from(table.tBodies).every(body => ordered(body, head.cellIndex, sign));
  });
  const tables = all('table').filter(table => table.querySelector('.s'));
  const count = () => all('table tbody tr').length, before = count();
  said.push('up ' + (tables.length > 2 && tables.every(table => sorts(table, 'ascending', 1))));
  all('th[aria-sort]').forEach(head => head.removeAttribute('aria-sort'));
  said.push('down ' + tables.every(table => sorts(table, 'descending', -1)));
  said.push('keeps ' + (count() === before));
  const rows = all('#timed tbody tr:not(.g)').length, field = document.querySelector('#timed .f');
  const filter = words => { field.value = words; field.dispatchEvent(new Event('input', {bubbles: true})); };
  filter('no such row');
  said.push('hides ' + (all('#timed tbody:not([hidden])').length === 0));
  said.push('prints ' + all('table, table tbody tr').every(e => e.getBoundingClientRect().height > 0)); /* true on paper alone */
  filter('');
  said.push('shows ' + (rows > 0 && all('#timed tbody:not([hidden]) tr:not(.g):not([hidden])').length === rows));
  const clipped = all('body *').filter(e => !e.closest('.wide, .commands, svg') && e.getBoundingClientRect().right > innerWidth + 1);
  said.push('fits ' + (document.documentElement.scrollWidth <= innerWidth && clipped.length === 0) + (clipped.length ? ' ' + clipped[0].outerHTML.slice(0, 200) : ''));
  parent.postMessage(said.join(', ') + ' at ' + innerWidth, '*');
}());
