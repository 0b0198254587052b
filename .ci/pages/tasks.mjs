// Ten things that people come for, tried in a real browser: each from the front page in at most two clicks, wide and
// narrow, light and dark.
//
//   node tasks.mjs SITE [--shots DIR]
//
// SITE is what ttreport build wrote. What a history cannot answer is left out: a site without releases has no step to
// find. Exit 1 when an answer was not found, took more than two clicks, or a page scrolled sideways.
import { existsSync, mkdirSync } from "node:fs";
import { resolve, join } from "node:path";
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const site = process.argv[2], at = process.argv.indexOf("--shots"), shots = at > 0 ? process.argv[at + 1] : "";
if (!site) { console.error("usage: node tasks.mjs SITE [--shots DIR]"); process.exit(2); }
if (shots) mkdirSync(shots, { recursive: true });
const chromium = process.env.CHROMIUM || ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
if (!chromium) { console.error("no Chromium: set CHROMIUM"); process.exit(2); }
const front = pathToFileURL(join(resolve(site), "index.html")).href;
const browser = await puppeteer.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-quic", "--allow-file-access-from-files"] });

const nav = (name) => ({ click: `nav a[href*="${name}"]` });
const model = { click: "#models tbody th a" };
// A task: clicks, perhaps a choice in a list, and what must stand on the page then, as a function that returns it.
const tasks = [
  { name: "why not fit, and what next", needs: ".card", steps: [],
    answer: () => [document.querySelector("h1").innerText, document.querySelector(".card .ways pre, .card dl")?.innerText].join(" => ") },
  { name: "which release brought the step of a model", needs: 'nav a[href*="changes/"]', steps: [nav("changes/")],
    answer: () => document.querySelector("main tbody tr")?.innerText || document.querySelector("h1").innerText },
  { name: "two releases side by side", needs: ".card", steps: [nav("compare/")], slow: true,
    answer: () => [...document.querySelectorAll("main tbody tr:not([aria-hidden])")].map((r) => r.innerText.trim()).find(Boolean) },
  { name: "missed targets by size", needs: 'nav a[href*="targets/"]', steps: [nav("targets/")],
    answer: () => document.querySelector("main tbody tr")?.innerText || document.querySelector("h1").innerText },
  { name: "raw file and command behind a number", needs: '#changed tbody td a[href*="runs/"], #models tbody th a',
    steps: [{ click: '#changed tbody td a[href*="runs/"]', or: { click: '#models tbody td a', or: model } }, { click: 'main td a[href*="runs/"], main th a[href*="runs/"]', unless: /[0-9a-f]{64}/ }], slow: true,
    answer: () => (document.querySelector("main").innerText.match(/[0-9a-f]{64}/) || [])[0] },
  { name: "a link to the state of a chart", needs: "[data-plane], .card",
    steps: [{ ...model, unless: "[data-plane] svg" }, { choose: "[data-plane] select[name=x]", value: "ttft" }], slow: true,
    answer: () => location.hash.includes("plane-1=") && location.hash },
  { name: "what was not measured", needs: 'nav a[href*="coverage/"]', steps: [nav("coverage/")], answer: () => document.querySelector("h1").innerText },
  { name: "the best device at one concurrency", needs: "[data-plane], .card",
    steps: [{ ...model, unless: "[data-plane] svg" }, { choose: "[data-plane] select[name=l]", value: /^c32$|^c/ }], slow: true,
    answer: () => document.querySelector("[data-plane] tbody tr")?.innerText },
  { name: "is an eval within tolerance", needs: 'nav a[href*="evals/"]', steps: [nav("evals/")],
    answer: () => document.querySelector("#references tbody tr, #board tbody tr, #scores tbody tr")?.innerText || document.querySelector("h1").innerText },
  { name: "noise or real", needs: ".card", steps: [], answer: () => document.querySelector("#changed tbody tr, #changed .empty")?.innerText },
];

const seen = (page, what) => page.evaluate((w) => { const e = document.querySelector(w); return !!e && e.getClientRects().length > 0; }, what);

// step does one thing that a person does, and returns how many clicks it took; -1 when there is nothing to click.
async function step(page, s) {
  if (s.unless instanceof RegExp) { if (s.unless.test(await page.evaluate(() => document.querySelector("main").innerText))) return 0; }
  else if (s.unless && await seen(page, s.unless)) return 0;
  if (s.choose) {
    await page.waitForSelector(s.choose, { visible: true, timeout: 8000 }).catch(() => {});
    if (!await seen(page, s.choose)) return -1;
    const values = await page.$$eval(s.choose + " option", (list) => list.map((o) => o.value));
    const value = s.value instanceof RegExp ? values.find((v) => v === "c32") || values.find((v) => s.value.test(v)) : s.value;
    if (!values.includes(value)) return -1;
    await page.evaluate((what, v) => { const e = document.querySelector(what); e.value = v; e.dispatchEvent(new Event("change")); }, s.choose, value);
    return 1;
  }
  if (!await seen(page, s.click)) return s.or ? step(page, s.or) : -1;
  await page.evaluate((w) => document.querySelector(w).click(), s.click);
  return 1;
}

async function attempt(task, width, theme) {
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
      await page.waitForNetworkIdle({ idleTime: 100, timeout: 8000 }).catch(() => {});
    }
    for (let i = 0; i < (task.slow ? 30 : 1) && !answer; i++) {
      answer = String(await page.evaluate(task.answer) || "").replace(/\s+/g, " ").trim();
      if (!answer) await new Promise((ok) => setTimeout(ok, 100));
    }
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    const screens = await page.evaluate(() => document.documentElement.scrollHeight / innerHeight);
    if (shots) await page.screenshot({ path: join(shots, `${task.name.replace(/\W+/g, "-")}-${width}-${theme}.png`) });
    return { clicks, answer, wide, screens };
  } finally {
    await page.close();
  }
}

let missed = 0;
for (const task of tasks) {
  const all = [];
  for (const width of [1440, 390]) for (const theme of ["light", "dark"]) all.push(await attempt(task, width, theme));
  const first = all[0];
  if (!first) { console.log(`-  ${task.name}: this history has none`); continue; }
  const ok = all.every((r) => r && r.answer && r.clicks <= 2 && !(r.wide > 0));
  if (!ok) missed++;
  console.log(`${ok ? "ok" : "MISSED"}  ${task.name}: ${first.clicks} clicks, ${all[2]?.screens?.toFixed(1)} screens at 390 px`);
  console.log(`      ${first.answer.slice(0, 150)}`);
  if (!ok) for (const r of all) console.log(`      clicks ${r?.clicks}, sideways ${r?.wide} px, answer ${r?.answer?.slice(0, 60)}`);
}
await browser.close();
process.exit(missed ? 1 : 0);
