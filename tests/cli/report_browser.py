#!/usr/bin/env python3
"""report_browser.py BROWSER PAGE WORK_FOLDER: opens a page of `benchcnn report` in a headless Chromium or Firefox. No error on the console and
no name that was obeyed (Chromium alone tells); tables sort, rows hide and show, nothing overflows at 375 and at 1280 pixels; a print has all
rows. Prints what is wrong; status 1 where anything is."""
import http.server
import os
import re
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
WAIT_S = 240 # for a machine that does much else
PARTS = (("probed", 375), ("probed", 1280), ("printed", 1280))
# A window has a least width: the page is in a frame. What it says goes to this program, whichever browser it is.
FRAME = """<!DOCTYPE html><body>%s<script>
let left = %d, said = '';
onmessage = event => { said += event.source.name + ': ' + event.data + '\\n'; if (--left === 0) fetch('/said', {method: 'POST', body: said}); };
</script></body>"""


def copies(page):
    """What the server has: copies whose policy lets a second script in; in one paper's style is that of the screen."""
    with open(page, encoding="utf-8") as file:
        text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", file.read())
    with open(os.path.join(HERE, "report_probe.js"), encoding="utf-8") as file:
        text = text.replace("</body>", "<script>" + file.read() + "</script></body>")
    frames = "".join(f'<iframe name="{part}{width}" src="/{part}" style="width:{width}px;height:900px;border:0"></iframe>' for part, width in PARTS)
    return {"/": FRAME % (frames, len(PARTS)), "/probed": text, "/printed": text.replace("@media print", "@media all")}


def serve(files, said):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = files.get(self.path, "").encode()
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        def do_POST(self):
            said["text"] = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self.send_response(204)
            self.end_headers()
            said["done"].set()
        def log_message(self, *_):
            pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def command(browser, work, address, *more):
    if "firefox" in os.path.basename(browser):
        return [browser, "--headless", "--no-remote", "--profile", work, address]
    return [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={work}", "--window-size=1400,900", *more, address]


def console(browser, page, work):
    """What Chromium says of the page as it is; its elements in the end."""
    ran = subprocess.run(command(browser, work, "file://" + os.path.abspath(page), "--enable-logging=stderr", "--virtual-time-budget=4000", "--dump-dom"),
                         capture_output=True, timeout=WAIT_S, check=False)
    dom, errors = ran.stdout.decode("utf-8", "replace"), re.findall(r".*CONSOLE.*", ran.stderr.decode("utf-8", "replace"))
    return [f"on the console: {line[:300]}" for line in errors[:3]] + [words for words, holds in (
        ("it ended badly", ran.returncode == 0), ("its script did not run", '<html lang="en" class="js">' in dom), ("it obeys a name", "<title>pwned" not in dom)) if not holds]


def main():
    browser, page, work = sys.argv[1:4]
    os.makedirs(work, exist_ok=True)
    wrong = [] if "firefox" in os.path.basename(browser) else console(browser, page, work)
    said = {"text": "", "done": threading.Event()}
    server = serve(copies(page), said)
    with subprocess.Popen(command(browser, work, f"http://127.0.0.1:{server.server_port}/", "--remote-debugging-port=0"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        if not said["done"].wait(WAIT_S):
            wrong.append(f"it said nothing within {WAIT_S} s")
        running.terminate()
    server.shutdown()
    for part, width in PARTS if said["text"] else ():
        wanted = f"{part}{width}: up true, down true, keeps true, hides true, prints {'true' if part == 'printed' else 'false'}, shows true, fits true at {width}"
        line = next((line for line in said["text"].splitlines() if line.startswith(f"{part}{width}: ")), "nothing")
        if part == "printed": # on paper nothing is hidden, and a wide table is as wide as it is
            wanted, line = (re.sub(r"fits .*", "", text) for text in (wanted, line))
        if line != wanted:
            wrong.append(f"{line[:400]}\n    not {wanted}")
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
