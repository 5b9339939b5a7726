"""report.html in a real browser: it opens, filters, shows places, and nothing on it runs but its own script."""

from __future__ import annotations

import dataclasses
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from torch2ms.diagnostics import Severity
from torch2ms.language import LANGUAGES, speaking
from torch2ms.reports.html import to_html
from torch2ms.reports.model import ApiUse, ChecklistItem, FileReport, LeftOut, Place, Report
from torch2ms.reports.summary import summarize

pytestmark = pytest.mark.browser

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--window-size=1400,1000",
]
Open = Callable[[Report], Any]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    chromedriver = shutil.which("chromedriver")
    if not chromium or not chromedriver:
        pytest.skip("Chromium and ChromeDriver are not installed (Debian: apt-get install chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(chromedriver))
    yield driver
    driver.quit()


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Iterator[Open]:
    def open_page(report: Report) -> Any:
        page = tmp_path / "report.html"
        page.write_text(to_html(report), encoding="utf-8")
        browser.get("about:blank")
        browser.get(page.as_uri())
        return browser

    browser.get_log("browser")
    yield open_page
    assert [entry["message"] for entry in browser.get_log("browser")] == []


def texts(page: Any, selector: str) -> list[str]:
    return [node.text for node in page.find_elements("css selector", selector) if node.is_displayed()]


def click(page: Any, selector: str) -> None:
    element = page.find_element("css selector", selector)
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)  # out from behind the bar of filters
    element.click()


def wait(page: Any, script: str) -> Any:
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(page, 20).until(lambda driver: driver.execute_script(f"return {script}"))


def write(page: Any, selector: str, text: str) -> None:
    field = page.find_element("css selector", selector)
    field.clear()
    field.send_keys(text)


TASKS = ["torch.special.bessel_j0", "torch.Tensor.backward", "syntax-error", "torch.compile", "torch.hypothetical"]
FILES = "#files-list > details > summary > .mono"


def by_need(report: Report) -> list[str]:
    """The files that failed first, then by errors, warnings and whether anything was translated."""
    counts = summarize(report).by_file

    def need(file: FileReport) -> tuple[int, ...]:
        found = counts.get(file.path, {})
        severities = (found.get(Severity.ERROR, 0), found.get(Severity.WARNING, 0))
        return (file.status == "failed", *severities, file.status == "translated")

    return [file.path for file in sorted(report.files, key=need, reverse=True)]


def test_shows_everything_at_first(report: Report, open_page: Open) -> None:
    page = open_page(report)
    assert texts(page, "h1") == ["6 of 9 torch APIs are translated, 3 are left for you."]
    assert texts(page, "#shown") == ["9 of 9 diagnostics, 12 of 12 files"]
    assert texts(page, "#todo-list summary .mono:first-of-type") == TASKS
    assert texts(page, "#todo-list h3") == ["On a path of an entry script", "Other code"]
    blocks = "torch.special.bessel_j0 (T2M201), torch.Tensor.backward (T2M402)"
    assert texts(page, ".scripts li") == [f"train.py needs work: 2 tasks, blocked by {blocks}"]
    assert texts(page, FILES) == by_need(report)
    assert len(texts(page, "#apis-list tbody tr")) == 9
    assert len(texts(page, "#checklist-list tbody tr")) == 4


def test_filters_by_severity_file_and_api(report: Report, open_page: Open) -> None:
    page = open_page(report)
    click(page, '[data-severity="1"]')
    assert texts(page, "#shown") == ["2 of 9 diagnostics, 2 of 12 files"]
    assert texts(page, FILES) == ["models/net.py", "train.py"]
    assert texts(page, "#todo-list") == ["Nothing passes the filter."]
    click(page, '[data-severity="0"]')
    assert texts(page, "#shown") == ["4 of 9 diagnostics, 2 of 12 files"]
    click(page, "#clear")
    assert texts(page, "#shown") == ["9 of 9 diagnostics, 12 of 12 files"]
    write(page, "#by-file", "TRAIN.py")
    assert wait(page, "document.getElementById('shown').textContent === '4 of 9 diagnostics, 1 of 12 files'")
    assert texts(page, FILES) == ["train.py"]
    click(page, "#clear")
    write(page, "#by-api", "bessel")
    assert wait(page, "document.getElementById('shown').textContent === '1 of 9 diagnostics, 1 of 12 files'")
    assert texts(page, "#todo-list summary .mono:first-of-type") == ["torch.special.bessel_j0"]
    assert texts(page, FILES) == ["models/net.py"]


def choose(page: Any, selector: str, value: str) -> None:
    script = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('change'))"
    page.execute_script(script, page.find_element("css selector", selector), value)


def test_filters_by_code_and_state(report: Report, open_page: Open) -> None:
    page = open_page(report)
    choose(page, "#by-code", "T2M402")
    assert texts(page, "#shown") == ["1 of 9 diagnostics, 1 of 12 files"]
    assert texts(page, "#todo-list summary .mono:first-of-type") == ["torch.Tensor.backward"]
    click(page, "#clear")
    choose(page, "#by-state", "needs work")
    assert set(texts(page, "#files-list .pill.error")) == {"needs work"}
    failing = {found.file for found in report.diagnostics if found.severity == Severity.ERROR}
    assert set(texts(page, FILES)) == failing
    choose(page, "#by-state", "unsupported")
    assert len(texts(page, "#apis-list tbody tr")) == sum(api.status == "unsupported" for api in report.apis)
    assert page.find_elements("css selector", "#files-list .pill.translated")  # ready, and green


def test_search_looks_everywhere(report: Report, open_page: Open) -> None:
    page = open_page(report)
    write(page, "#by-text", "Return the number BEHIND")  # in the code of one file
    assert wait(page, "document.getElementById('files-tally').textContent === '1 of 12'")
    assert texts(page, FILES) == ["models/net.py"]
    write(page, "#by-text", "the loss is read before")
    assert wait(page, "document.getElementById('diagnostics-tally').textContent === '1 of 9'")
    assert page.execute_script("return location.hash") == "#?text=the+loss+is+read+before"


def test_links_keep_the_filter_and_the_place(report: Report, open_page: Open) -> None:
    page = open_page(report)
    address = page.current_url
    page.get("about:blank")
    page.get(f"{address}#?code=T2M402&severity=error&file=train")
    assert texts(page, "#shown") == ["1 of 9 diagnostics, 1 of 12 files"]
    assert page.find_element("css selector", "#by-file").get_attribute("value") == "train"
    assert page.find_element("css selector", '[data-severity="2"]').get_attribute("aria-pressed") == "true"
    click(page, "#clear")
    assert page.execute_script("return location.hash") == ""
    click(page, "#todo-list a")
    assert page.execute_script("return location.hash") == "#/models/net.py:55"
    odd = next(file.path for file in report.files if " " in file.path and file.output)
    page.execute_script("location.hash = '#/' + encodeURI(arguments[0]) + ':1'", odd)
    assert wait(page, "document.querySelector('tr.at')?.dataset.o === '1'")


def test_files_are_ordered_by_need_or_name(report: Report, open_page: Open) -> None:
    page = open_page(report)
    choose(page, "#order", "name")
    assert texts(page, FILES) == [file.path for file in report.files]
    choose(page, "#order", "need")
    assert texts(page, FILES) == by_need(report)


def test_what_is_left_out_and_silenced_is_shown(report: Report, open_page: Open) -> None:
    left = LeftOut("data/", "large data", 5 << 20, 3)
    page = open_page(dataclasses.replace(report, left_out=(left,), silenced=report.diagnostics[:2]))
    click(page, "#left-out summary")
    assert [text.split() for text in texts(page, "#left-out li")] == ["data/ large data: 3 files, 5 MiB".split()]
    click(page, "#silenced summary")
    assert len(texts(page, "#silenced li")) == 2


def test_a_long_checklist_is_folded_by_topic(report: Report, open_page: Open) -> None:
    items = tuple(ChecklistItem("seed", str(number), None) for number in range(20))
    page = open_page(dataclasses.replace(report, checklist=(*items, ChecklistItem("loss", "MSE", None))))
    assert texts(page, "#checklist-list summary .right") == ["20", "1"]
    assert texts(page, "#checklist-list tbody tr") == []
    click(page, "#checklist-list summary")
    assert len(texts(page, "#checklist-list tbody tr")) == 20


def test_nothing_is_wider_than_a_narrow_window(report: Report, open_page: Open) -> None:
    page = open_page(report)
    page.set_window_size(500, 900)
    try:
        assert page.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    finally:
        page.set_window_size(1400, 1000)


def test_a_place_opens_its_file_at_its_line_with_its_mark(report: Report, open_page: Open) -> None:
    page = open_page(report)
    click(page, "#todo-list a")
    assert wait(page, "document.querySelector('tr.at')?.dataset.o === '55'")
    row = page.find_element("css selector", "tr.at")
    assert "bessel_j0" in row.text
    box = "document.querySelector('tr.at').getBoundingClientRect()"
    assert wait(page, f"{box}.top > 0 && {box}.bottom < innerHeight")
    following = page.execute_script("return document.querySelector('tr.at').nextElementSibling.textContent")
    assert following.startswith("T2M201 error")
    assert page.execute_script("return document.activeElement.closest('tr').dataset.o") == "55"


def test_a_folded_line_is_unfolded_for_a_link(report: Report, open_page: Open) -> None:
    page = open_page(report)
    page.execute_script("location.hash = '#f2L33'")
    assert wait(page, "document.querySelector('tr.at')?.textContent.includes('NAMES')")


def test_the_diff_shows_both_sides_word_by_word(report: Report, open_page: Open) -> None:
    page = open_page(report)
    page.execute_script("location.hash = '#f2L50'")
    assert wait(page, "document.querySelector('tr.at') !== null")
    assert texts(page, "tr.at .old b") == ["Linear"]
    assert texts(page, "tr.at .new b") == ["Dense"]
    page.execute_script(
        "const v = document.getElementById('view'); v.value = 'unified'; v.dispatchEvent(new Event('change'))"
    )
    assert wait(page, "document.querySelector('#file-2 .diff.unified td.new') !== null")
    marks = page.execute_script("return [...document.querySelectorAll('#file-2 .says .head')].map(n => n.textContent)")
    assert marks == ["T2M207 warning", "T2M201 error"]


def test_marks_follow_the_severity_filter(report: Report, open_page: Open) -> None:
    page = open_page(report)
    click(page, '[data-severity="2"]')
    page.execute_script("location.hash = '#f7L9'")
    assert wait(page, "document.querySelector('#file-7 .says') !== null")
    heads = page.execute_script("return [...document.querySelectorAll('#file-7 .says .head')].map(n => n.textContent)")
    assert heads == ["T2M402 error"]


def test_hostile_text_stays_text(report: Report, open_page: Open) -> None:
    source = "</script><script>document.title='owned'</script>\n<img src=x onerror=alert(1)>\n"
    source += "right \u202e left \x00 \x1b[31m\n"
    hostile = FileReport("<b>x</b>.py", "translated", source=source, output=source + "x\n", note="<i>note</i>")
    api = ApiUse("torch.<u>f</u>", "unknown", ("<s>",), "", "<em>advice</em>", (Place(hostile.path, 2, 1),))
    page = open_page(dataclasses.replace(report, files=(hostile,), apis=(api,), diagnostics=(), checklist=()))
    page.execute_script("location.hash = '#f0L3'")
    assert wait(page, "document.querySelector('tr.at') !== null")
    assert page.title == "Translation report · torch2ms"
    assert (
        page.execute_script(
            "return document.querySelectorAll('main :is(img, script, u, s, em em, i:not([class]))').length"
        )
        == 0
    )
    assert texts(page, "tr.at .ctl")[:1] == ["U+202E"]
    assert "<em>advice</em>" in texts(page, "#todo-list p")[0]


def test_works_by_keyboard(report: Report, open_page: Open) -> None:
    from selenium.webdriver.common.keys import Keys

    page = open_page(report)
    page.find_element("css selector", '[data-severity="2"]').send_keys(Keys.SPACE)
    assert page.find_element("css selector", '[data-severity="2"]').get_attribute("aria-pressed") == "true"
    page.find_element("css selector", "#file-7 > summary").send_keys(Keys.ENTER)
    assert wait(page, "document.querySelector('#file-7 .diff') !== null")
    unnamed = page.execute_script(
        "return [...document.querySelectorAll('button, input, select, a')].filter(n =>"
        " !(n.textContent.trim() || n.labels?.length || n.getAttribute('aria-label'))).length"
    )
    assert unnamed == 0


CONTRAST = """
const numbers = (colour) => {
  const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  context.fillStyle = colour; context.fillRect(0, 0, 1, 1);
  return [...context.getImageData(0, 0, 1, 1).data];
};
const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
  .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const ground = (node) => {
  for (; node; node = node.parentElement) {
    const colour = getComputedStyle(node).backgroundColor;
    if (numbers(colour)[3] > 250) return colour;
  }
  return getComputedStyle(document.documentElement).colorScheme === 'dark' ? '#000' : '#fff';
};
const poor = [];
for (const node of document.querySelectorAll('body *')) {
  if (![...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim())) continue;
  if (!node.checkVisibility() || node.disabled || node.closest('script, style, noscript, .sr, option')) continue;
  const [a, b] = [light(numbers(getComputedStyle(node).color)), light(numbers(ground(node)))].sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  const what = `${node.tagName}.${node.className}: ${node.textContent.trim().slice(0, 30)} ${ratio.toFixed(2)}`;
  if (ratio < 4.5) poor.push(what);
}
return [...new Set(poor)];
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_the_contrast_of_wcag_aa(report: Report, open_page: Open, scheme: str) -> None:
    page = open_page(report)
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    background = page.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert background == {"light": "rgb(246, 246, 243)", "dark": "rgb(16, 18, 20)"}[scheme]
    for index in (1, 2, 7):
        page.execute_script(f"location.hash = '#f{index}L1'")
        assert wait(page, f"document.querySelector('#file-{index} .diff') !== null")
    assert wait(page, "document.getAnimations().length === 0")
    assert page.execute_script(CONTRAST) == []


def test_a_long_file_opens_in_portions_and_jumps_anywhere(report: Report, open_page: Open) -> None:
    source = "".join(f"x{number} = torch.relu(y)\n" for number in range(1, 5001))
    file = FileReport("long.py", "translated", source=source, output=source.replace("torch", "ops"))
    page = open_page(dataclasses.replace(report, files=(file,), apis=(), diagnostics=(), checklist=()))
    click(page, "#file-0 > summary")
    assert wait(page, "document.querySelectorAll('#file-0 tr[data-o]').length") == 1500
    page.execute_script("location.hash = '#f0L4321'")
    assert wait(page, "document.querySelector('tr.at')?.textContent.includes('x4321')")
    assert page.execute_script("return document.querySelectorAll('#file-0 tr[data-o]').length") <= 3100


AXE = Path(sys.prefix) / "axe" / "node_modules" / "axe-core" / "axe.min.js"  # where `make test` puts it
RUN_AXE = """
const done = arguments[arguments.length - 1];
axe.run(document, { resultTypes: ['violations'] }).then(
  (found) => done(found.violations.map((entry) => [entry.impact, entry.id, entry.nodes[0].html])),
  (error) => done([['error', String(error), '']]));
"""


@pytest.mark.parametrize("name", LANGUAGES)
def test_axe_finds_no_serious_fault(report: Report, open_page: Open, name: str) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is not there (`make test` fetches it with npm)")
    with speaking(name):
        page = open_page(report)
    page.execute_script("for (const item of document.querySelectorAll('details:not(.file)')) item.open = true")
    page.execute_script("location.hash = '#f1L1'")
    assert wait(page, "document.querySelector('#file-1 .diff') !== null")
    page.execute_script(AXE.read_text(encoding="utf-8"))
    found = page.execute_async_script(RUN_AXE)
    assert [entry for entry in found if entry[0] not in ("minor", "moderate")] == []
