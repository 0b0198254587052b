// Ten things that people come for, tried in a real browser: each from the front page in at most two clicks, wide and
// narrow, light and dark.
//
//   node tasks.mjs SITE [--shots DIR] [--short]      --short: wide and light, narrow and dark
//
// SITE is what ttreport build wrote. What a history cannot answer is left out: a site without releases has no step to
// find. Exit 1 when an answer was not found, took more than two clicks, or a page scrolled sideways.
import { existsSync, mkdirSync } from "node:fs";
import { resolve, join } from "node:path";
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const site = process.argv[2], short = process.argv.includes("--short"), at = process.argv.indexOf("--shots"), shots = at > 0 ? process.argv[at + 1] : "";
if (!site) { console.error("usage: node tasks.mjs SITE [--shots DIR]"); process.exit(2); }
if (shots) mkdirSync(shots, { recursive: true });
const chromium = process.env.CHROMIUM || ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
if (!chromium) { console.error("no Chromium: set CHROMIUM"); process.exit(2); }
const front = pathToFileURL(join(resolve(site), "index.html")).href;
// Each width and theme has a browser: a page is mostly waited for.
const looks = [[1440, "light"], [1440, "dark"], [390, "light"], [390, "dark"]].filter(([width, theme]) => !short || (width > 500) === (theme === "light"));
const browsers = await Promise.all(looks.map(() => puppeteer.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-quic", "--allow-file-access-from-files"] })));

const nav = (name) => ({ click: `nav a[href*="${name}"]` });
const model = { click: "#models th a" };
// An answer is what stands on the page, and what a person must find in it: each pattern of a task, or its answer counts as
// missed. A history that has no step, or nothing missing, says that in words; these are answers too.
const percent = /[+−±]\d[\d.,]*.%/, number = /\d[\d.,]*/;
// axes reports whether every digit of a plane is inside its picture.
const axes = () => [...document.querySelectorAll("[data-plane] svg text")].every((e) => e.getBoundingClientRect().left >= e.closest("svg").getBoundingClientRect().left - 1);
const tasks = [
  { name: "why not fit, and what next", needs: ".card", steps: [],
    answer: () => [document.querySelector("h1").innerText, [...document.querySelectorAll(".card .ways pre")].map((e) => e.innerText).join(" ; "), document.querySelector(".card dl").innerText].join(" => "),
    must: [/^\W*(PASS|FAIL|NO BASELINE|NOT GRADED|Slower|Not slower|Perhaps slower)/, /Exit code\s+ttreport check exits [0156]/], also: { when: /FAIL|Slower/, must: [/ttreport \w+/] } },
  { name: "which release brought the step of a model", needs: 'nav a[href*="changes/"]', steps: [nav("changes/")],
    answer: () => document.querySelector("main .change, main tbody tr")?.innerText || document.querySelector("h1").innerText,
    must: [/Nothing has changed in the history|[+−]\d[\d.,]*.%|\d[\d.,]*.% (slower|faster)/], release: true },
  { name: "what a release changed, on its page", needs: ".card + *, #releases th a", steps: [{ click: "#releases th a" }],
    answer: () => [document.querySelector("h1").innerText, document.querySelector(".change h3")?.innerText, ...[...document.querySelectorAll(".lead p")].map((p) => p.innerText)].filter(Boolean).join(" => "),
    must: [/^\W*(PASS|FAIL|NO BASELINE|NOT GRADED)|points?|scores?/], also: { when: /(slower|% since).* => /, must: [/\d.%/] },
    ordered: () => { // nothing below the heading says it again, and what is still open has its card
      const h1 = document.querySelector("h1").innerText.replace(/^[^:]*: /, "").replace(/\.$/, "");
      return ![...document.querySelectorAll(".lead p")].some((p) => p.innerText.startsWith(h1)) && (!/(slower|worse) since/.test(h1) || !!document.querySelector(".change"));
    } },
  { name: "a series of the change", needs: ".change figcaption a", steps: [{ click: ".change figcaption a" }],
    answer: () => document.querySelector(".trend") && [document.querySelector("h1").innerText, document.querySelector(".trend ~ .tw tbody tr").innerText].join(" => "),
    must: [percent, /since|one level/, /regressed|improved|recovered|unchanged|inconclusive|below-limit|not judged|no.baseline/],
    again: () => !!document.querySelector(".trend") && location.hash.includes("k=") },
  { name: "two releases, or devices, side by side", needs: 'nav a[href*="compare/"]', steps: [nav("compare/")],
    answer: () => { const said = document.querySelector("[role=status], main .empty")?.innerText || ""; return /on both sides|Nothing was measured on both sides|Nothing states/.test(said + document.querySelector("main").innerText) && [document.querySelector(".chips")?.innerText, said, [...document.querySelectorAll("main tbody tr:not([aria-hidden])")].filter((r) => r.getClientRects().length).map((r) => r.innerText.trim()).find(Boolean) || ""].join(" => "); },
    must: [/(numbers?|scores?) on both sides(: [\d,]+ \w+ and [\d,]+ \w+|, not judged)|The nearest: |Nothing states/, /A and B differ in|Nothing states/],
    also: { when: /by more than the limit, not judged/, must: [/Geometric mean ×[\d.]+/] },
    again: () => /[ab](release)=/.test(location.hash) || !document.querySelector("[name=arelease]") },
  { name: "missed targets by size", needs: 'nav a[href*="targets/"]', steps: [nav("targets/")],
    answer: () => [document.querySelector("h1").innerText, ...[...document.querySelectorAll("#force tbody tr, main tbody tr")].slice(0, 40).map((r) => [...r.cells].map((c) => c.innerText).join(" | "))].join(" => "),
    must: [/\d+ (of [\d,]+ )?required targets? |All [\d,]+ required|No target is in force|informational/],
    also: { when: /\| [✕✓?] ?(fail|pass)|=> (fail|pass)/, must: [/[+−±][\d.,]+\s(ms|tok\/s|req\/s|s|pp|%|J|W|MiB|GiB|img\/s|)/] }, // the gap in the unit of the limit
    ordered: () => [...document.querySelectorAll("#force, #references")].every((s) => { // of one verdict, the largest miss first
      const at = [...s.querySelectorAll("thead th")].findIndex((h) => h.textContent.trim().startsWith("Gap"));
      const rows = [...s.querySelectorAll("tbody tr")].map((r) => [r.cells[0].innerText.split("\n")[0], parseFloat(r.cells[at].dataset.v)]);
      return at > 0 && rows.every(([word, v], i) => !i || rows[i - 1][0] !== word || isNaN(v) || isNaN(rows[i - 1][1]) || rows[i - 1][1] >= v || word !== "fail");
    }) },
  { name: "raw file and command behind a number", needs: 'main td a[href*="runs/"], #models th a',
    steps: [{ click: 'main td a[href*="/p"][href*="runs/"], main td a[href*="/e"][href*="runs/"]', or: { click: '#models tbody td a', or: model } }, { click: 'main td a[href*="runs/"], main th a[href*="runs/"]', unless: /[0-9a-f]{64}/ }],
    answer: () => { const t = (document.querySelector(".drawer") || document.querySelector("main")).innerText; return /[0-9a-f]{64}/.test(t) && t; },
    must: [/\b[0-9a-f]{64}\b/, /Raw file[\s\S]*\.\w+/, /Command\s+\S+|Standard error|Commands?/] },
  { name: "a link to the state of a chart", needs: "[data-plane], .card",
    steps: [{ ...model, unless: "[data-plane] svg" }, { choose: "[data-plane] select[name=x]", value: "other" }],
    answer: () => location.hash.includes("plane-1=") && location.hash, must: [/plane-1=x%3A\w+/],
    again: () => { const s = document.querySelector("[data-plane] select[name=x]"); return s && decodeURIComponent(location.hash).includes("x:" + s.value); } },
  { name: "what was not measured", needs: 'nav a[href*="coverage/"]', steps: [nav("coverage/")],
    answer: () => [document.querySelector("h1").innerText, [...document.querySelectorAll("#map thead th")].map((h) => h.firstChild.textContent.trim()).join(" | "), ...[...document.querySelectorAll("#map tbody tr")].filter((r) => !r.hidden).slice(0, 3).map((r) => r.innerText)].join(" => "),
    must: [/[\d,]+ of [\d,]+|Nothing/, /All measured[^]* Last seen|Workload \| Model \| Device \| Expected \| Measured \| Last seen \| Why not \| Command|Nothing/],
    also: { when: /not measured again|missing:/, must: [/ttreport collect|own tool|–/] },
    ordered: () => { const all = [...document.querySelectorAll("#map tbody tr")], full = all.map((r) => r.cells[3].innerText === r.cells[4].innerText); return full.every((is, i) => !i || is || !full[i - 1]); } },
  { name: "the best device at one concurrency", needs: "[data-plane], .card",
    steps: [{ ...model, unless: "[data-plane] svg" }, { choose: "[data-plane] select[name=l]", value: /^c32$|^c/ }],
    answer: () => { const t = document.querySelector("[data-plane] table"); return t && [document.querySelector("h1").innerText, ...[...t.rows].map((r) => [...r.cells].map((c) => c.innerText).join(" | "))].join(" => "); },
    must: [number, /tok\/s/, /At concurrency \d.*=>|At \d.*=>/], ordered: axes },
  { name: "the best device at a service level per dollar", needs: "[data-plane]",
    steps: [{ choose: "[data-plane] select[name=y]", value: "price", or: { choose: "[data-plane] select[name=x]", value: /./ } }],
    answer: () => { const t = document.querySelector("[data-plane] table"); return t && [document.querySelector("h1").innerText, ...[...t.rows].map((r) => [...r.cells].map((c) => c.innerText).join(" | "))].join(" => "); },
    must: [number], also: { when: /per 1M/, must: [/^(At|Highest).* costs (at most )?[\d.,]+ \S+ per 1M output tokens/] }, ordered: axes },
  { name: "is an eval within tolerance", needs: 'nav a[href*="evals/"]', steps: [nav("evals/")],
    answer: () => document.querySelector("h1").innerText + " => " + (["#references", "#board", "#scores", "main"].map((s) => document.querySelector(s + " tbody tr")).find(Boolean)?.innerText || ""),
    must: [/references? met|there is no reference|No (eval|score)|scores?|models?/], also: { when: /\d+ of \d+ references? met/, must: [/pass|fail|inconclusive|missing/, /[+−±][\d.]+ ?pp|–/] },
    ordered: () => { // one interval a score on the page
      const name = (c) => (c.querySelector("small:not(.tag)")?.textContent.split(" · ")[0] ?? c.firstChild.textContent).trim(); // below the model
      const of = (section, task, at) => new Map([...document.querySelectorAll(section + " tbody tr")].map((r) => [name(r.cells[task]) + r.cells[2].firstChild.textContent, r.cells[at].innerText.trim()]));
      const a = of("#references", 1, 6), b = of("#scores", 0, 4);
      return [...a].every(([task, x]) => !b.has(task) || x === "–" || b.get(task) === x);
    } },
  { name: "noise or real", needs: ".card", steps: [], answer: () => { // the interval is a picture with its text
      const e = document.querySelector("#changed tbody tr, #changed .empty, .change");
      return e && [e.innerText, ...[...e.querySelectorAll("svg[role=img]")].map((s) => s.getAttribute("aria-label") || s.querySelector("title")?.textContent)].join(" ");
    },
    must: [/(regressed|improved|recovered|\d% (slower|faster)[\s\S]*95.% interval[\s\S]*[Cc]onfirmed|\d.% (slower|faster)[\s\S]*95.% interval|inconclusive|below-limit|missing|not measured again|not-comparable|excluded)|Nothing changed|Nothing to compare|cannot serve/], also: { when: /regressed|improved/, must: [percent, /confirmed|suspected/, /to [+−±]\d/] } },
];

// lacks says which patterns of a task its answer does not have.
function lacks(task, answer) {
  const wanted = [...(task.must || []), ...(task.also && task.also.when.test(answer) ? task.also.must : [])];
  return wanted.filter((re) => !re.test(answer)).map(String);
}

const seen = (page, what) => page.evaluate((w) => { const e = document.querySelector(w); return !!e && e.getClientRects().length > 0; }, what);

// step does one thing that a person does, and returns how many clicks it took; -1 when there is nothing to click.
async function step(page, s) {
  if (s.unless instanceof RegExp) { if (s.unless.test(await page.evaluate(() => document.body.innerText))) return 0; }
  else if (s.unless && await seen(page, s.unless)) return 0;
  if (s.choose) {
    await page.waitForSelector(s.choose, { visible: true, timeout: 8000 }).catch(() => {});
    if (!await seen(page, s.choose)) return -1;
    const values = await page.$$eval(s.choose + " option", (list) => list.map((o) => o.value));
    const current = await page.$eval(s.choose, (e) => e.value);
    const value = s.value instanceof RegExp ? values.find((v) => v === "c32") || values.find((v) => s.value.test(v)) : s.value === "other" ? values.find((v) => v !== current) : s.value;
    if (!values.includes(value)) return s.or ? step(page, s.or) : -1;
    await page.evaluate((what, v) => { const e = document.querySelector(what); e.value = v; e.dispatchEvent(new Event("change")); }, s.choose, value);
    return 1;
  }
  let folded = 0; // behind "More"
  if (!await seen(page, s.click)) folded = await page.evaluate((w) => { const d = document.querySelector(w)?.closest("details:not([open])"); d?.querySelector("summary").click(); return d ? 1 : 0; }, s.click);
  if (!await seen(page, s.click)) return s.or ? step(page, s.or) : -1;
  await page.evaluate((w) => document.querySelector(w).click(), s.click);
  return 1 + folded;
}

async function attempt(browser, task, [width, theme]) {
  const page = await browser.newPage();
  await page.setViewport({ width, height: width > 500 ? 900 : 844 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
  await page.goto(front, { waitUntil: "networkidle0" });
  let clicks = 0, answer = "";
  try {
    if (!await page.$(task.needs)) return null;
    for (const s of task.steps) {
      const n = await step(page, s);
      if (n < 0) return { clicks, answer: "", page };
      clicks += n;
      await new Promise((ok) => setTimeout(ok, 250));
      await page.waitForFunction(() => document.readyState === "complete", { timeout: 8000 }).catch(() => {}); // a click may have led elsewhere
      await page.waitForNetworkIdle({ idleTime: 100, timeout: 8000 }).catch(() => {});
    }
    for (let i = 0; i < 30 && !answer; i++) {
      answer = String(await page.evaluate(task.answer).catch(() => "") || "").replace(/\s+/g, " ").trim();
      if (!answer) await new Promise((ok) => setTimeout(ok, 100));
    }
    let lacking = answer ? lacks(task, answer) : ["an answer"];
    if (answer && task.ordered && !await page.evaluate(task.ordered)) lacking.push("the order by size");
    if (answer && task.again) { // the address alone shows the same
      const url = await page.evaluate(() => location.href);
      await page.goto("about:blank");
      await page.goto(url, { waitUntil: "networkidle0" });
      if (!await page.waitForFunction(task.again, { timeout: 8000 }).catch(() => false)) lacking.push("the same from its address");
    }
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    const screens = await page.evaluate(() => document.documentElement.scrollHeight / innerHeight);
    if (shots) await page.screenshot({ path: join(shots, `${task.name.replace(/\W+/g, "-")}-${width}-${theme}.png`) });
    return { clicks, answer, lacking, wide, screens };
  } finally {
    await page.close();
  }
}

let missed = 0;
for (const task of tasks) {
  const all = await Promise.all(looks.map((look, i) => attempt(browsers[i], task, look)));
  const first = all[0];
  if (!first) { console.log(`-  ${task.name}: this history has none`); continue; }
  const ok = all.every((r) => r && r.answer && !r.lacking?.length && r.clicks <= 2 && !(r.wide > 0));
  if (!ok) missed++;
  console.log(`${ok ? "ok" : "MISSED"}  ${task.name}: ${first.clicks} clicks, ${all.at(-1)?.screens?.toFixed(1)} screens at 390 px`);
  console.log(`      ${first.answer.slice(0, 150)}`);
  if (!ok) for (const r of all) console.log(`      clicks ${r?.clicks}, sideways ${r?.wide} px, lacks ${r?.lacking?.join(" and ")}, answer ${r?.answer?.slice(0, 160)}`);
}
await Promise.all(browsers.map((b) => b.close()));
process.exit(missed ? 1 : 0);
