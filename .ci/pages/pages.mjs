// Measures a built site in a real browser and prints a table of figures with their goals.
//
//   node pages.mjs SITE [--short]
//
// SITE is what ttreport build wrote. --short leaves Lighthouse out. Exit 1 when a goal is missed that does not depend on how busy the
// machine is: accessibility, validity, links, weights.
import { createServer } from "node:http";
import { readFileSync, readdirSync, statSync, existsSync } from "node:fs";
import { join, extname, dirname, normalize } from "node:path";
import { gzipSync } from "node:zlib";
import { createRequire } from "node:module";
import puppeteer from "puppeteer-core";

const site = process.argv[2], short = process.argv.includes("--short");
if (!site) { console.error("usage: node pages.mjs SITE [--short]"); process.exit(2); }
const require = createRequire(import.meta.url);
const chromium = process.env.CHROMIUM || ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
if (!chromium) { console.error("no Chromium: set CHROMIUM"); process.exit(2); }

function walk(dir, out = []) {
  for (const name of readdirSync(dir)) {
    const path = join(dir, name);
    if (statSync(path).isDirectory()) walk(path, out); else out.push(path);
  }
  return out;
}
const files = walk(site), pages = files.filter((f) => f.endsWith(".html")).map((f) => f.slice(site.length).replace(/^\//, ""));
const first = (re) => pages.filter((p) => re.test(p)).sort().at(-1);
const kinds = { landing: "index.html", release: first(/^releases\//), pair: first(/^models\/[^/]+\/[^/]+\//), model: first(/^models\/[^/]+\/index/), run: first(/^runs\//), explore: "explore/index.html", compare: "compare/index.html", changes: "changes/index.html", coverage: "coverage/index.html", evals: "evals/index.html", targets: "targets/index.html", notes: "notes/index.html", problems: "problems/index.html", about: "about/index.html", lints: "about/lints.html", "404": "404.html" };

const rows = [];
let missed = 0;
function row(what, value, goal, met, counts = true) {
  rows.push([what, String(value), goal, met ? "met" : "MISSED"]);
  if (!met && counts) missed++;
}

const types = { ".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript", ".json": "application/json", ".csv": "text/csv", ".xml": "application/xml", ".md": "text/plain" };
const server = createServer((req, res) => {
  const path = join(site, normalize(decodeURIComponent(new URL(req.url, "http://x").pathname)).replace(/\/$/, "/index.html"));
  if (!path.startsWith(site) || !existsSync(path)) { res.writeHead(404); res.end(); return; }
  const body = readFileSync(path), zip = /gzip/.test(req.headers["accept-encoding"] || "");
  res.writeHead(200, { "Content-Type": types[extname(path)] || "application/octet-stream", ...(zip && { "Content-Encoding": "gzip" }), "Cache-Control": "max-age=600" });
  res.end(zip ? gzipSync(body) : body);
}).listen(0, "127.0.0.1");
await new Promise((ok) => server.on("listening", ok));
const base = `http://127.0.0.1:${server.address().port}/`;
// Two browsers, because a page is mostly waited for.
const browsers = await Promise.all([0, 1].map(() => puppeteer.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-quic"] })));
const browser = browsers[0];

// A number to open, and a score where there is one: the drawer is part of every page.
const opened = ["p", "e"].map((kind) => pages.map((p) => readFileSync(join(site, p), "utf8").match(new RegExp(`runs/index\\.html(#[^"/]+/${kind}\\d+/[^"]+)"`))).find(Boolean)?.[1]).filter(Boolean);
const open = async (page, hash) => {
  await page.evaluate((h) => { location.hash = h; }, hash.replaceAll("&amp;", "&"));
  await page.waitForFunction(() => document.querySelector(".drawer")?.innerText.includes("SHA-256"), { timeout: 10000 });
};

// Accessibility: every kind of page, light and dark, wide and narrow.
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
let violations = 0, checked = 0;
const audit = async (page, what, part = "html") => {
  const found = await page.evaluate((selector) => axe.run(document.querySelector(selector), { resultTypes: ["violations"] })
    .then((r) => r.violations.map((v) => v.id + ": " + v.nodes.slice(0, 2).map((n) => n.html.slice(0, 160)).join(" | "))), part);
  for (const f of found) console.log(`axe ${what}: ${f}`);
  violations += found.length;
};
const sideways = async (page, what) => {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (wide > 0) { console.log(`${what} scrolls sideways by ${wide} px`); missed++; }
};
const looks = [];
for (const [kind, path] of Object.entries(kinds)) {
  if (path && pages.includes(path)) for (const theme of ["light", "dark"]) for (const width of [1440, 390]) looks.push({ kind, path, theme, width });
}
const look = async (browser, { kind, path, theme, width }) => {
  const page = await browser.newPage();
  await page.setBypassCSP(true);
  await page.setViewport({ width, height: 900 });
  await page.goto(base + path + "?theme=" + theme, { waitUntil: "networkidle0" });
  await page.evaluate(axe);
  const drawers = kind === "landing" ? opened : opened.slice(0, 1);
  for (const hash of kind === "run" || kind === "404" ? [] : drawers) {
    await open(page, hash);
    await audit(page, `${kind} ${theme} ${width}, drawer ${hash}`);
    await sideways(page, `${kind} at ${width} with a drawer`);
    checked++;
  }
  await page.keyboard.press("Escape");
  if (kind === "landing") { // the search
    await page.click("#search");
    await page.waitForSelector(".search[open] li");
    await audit(page, `search ${theme} ${width}`, ".search");
    await page.keyboard.press("Escape");
  }
  await audit(page, `${kind} ${theme} ${width}`);
  await sideways(page, `${kind} at ${width}`);
  checked++;
  await page.close();
};
await Promise.all(browsers.map(async (browser) => { while (looks.length) await look(browser, looks.shift()); }));
row(`axe violations, ${checked} pages x theme x width, ${opened.length} kinds of drawers`, violations, "0", violations === 0);

// Validity and links.
const html = await import("html-validate").catch((e) => { console.log(`HTML validity was not measured: html-validate needs node 20.19 or later (${e.message})`); return null; });
const validator = html && new html.HtmlValidate({ extends: ["html-validate:standard"], rules: { "no-implicit-close": "off", "no-inline-style": "off", "long-title": "off", "no-raw-characters": "off", "valid-id": "off", "no-trailing-whitespace": "off", "prefer-native-element": "off", "no-redundant-role": "off", "attribute-boolean-style": "off", "doctype-style": "off", "void-style": "off", "unique-landmark": "off", "require-sri": "off" } });
let invalid = 0;
for (const path of html ? Object.values(kinds) : []) {
  if (!path || !pages.includes(path)) continue;
  const report = await validator.validateString(readFileSync(join(site, path), "utf8"));
  for (const r of report.results) for (const m of r.messages) if (m.severity === 2) { if (invalid++ < 20) console.log(`html ${path}:${m.line}: ${m.ruleId}: ${m.message}`); }
}
// What the scripts made of a page with an open drawer must be valid too.
for (const hash of html ? opened : []) for (const kind of ["landing", "release", "explore", "evals"]) {
  if (!kinds[kind] || !pages.includes(kinds[kind])) continue;
  const page = await browser.newPage();
  await page.goto(base + kinds[kind], { waitUntil: "networkidle0" });
  await open(page, hash);
  const report = await validator.validateString("<!doctype html>" + await page.evaluate(() => document.documentElement.outerHTML));
  for (const r of report.results) for (const m of r.messages) if (m.severity === 2) { if (invalid++ < 20) console.log(`html ${kind} with ${hash}: ${m.ruleId}: ${m.message} ${m.selector || ""}`); }
  await page.close();
}
if (html) row("HTML errors (html-validate), also with a drawer", invalid, "0", invalid === 0);
let broken = 0;
for (const path of pages) {
  const html = readFileSync(join(site, path), "utf8");
  for (const [, link] of html.matchAll(/(?:href|src)="([^"#?]+)[^"]*"/g)) {
    if (/^[a-z]+:/.test(link) || link.startsWith("/")) continue;
    if (!existsSync(join(site, dirname(path), link))) { if (broken++ < 10) console.log(`${path} links to ${link}`); }
  }
}
row(`broken internal links, ${pages.length} pages`, broken, "0", broken === 0);

// Weights.
const gz = (name) => gzipSync(readFileSync(join(site, name)), { level: 9 }).length;
const css = gz("assets/site.css");
for (const kind of ["landing", "release", "explore"]) {
  const page = await browser.newPage();
  await page.goto(base + kinds[kind], { waitUntil: "networkidle0" });
  const nodes = await page.evaluate(() => document.getElementsByTagName("*").length);
  const kb = (gz(kinds[kind]) + css) / 1000;
  row(`${kind}: HTML+CSS gz, DOM nodes`, `${kb.toFixed(1)} kB, ${nodes}`, "<= 60 kB, <= 1500", kb <= 60 && nodes <= 1500);
  await page.close();
}
const js = ["site", "series", "explore", "compare"].reduce((sum, name) => sum + gz(`assets/${name}.js`), 0) / 1000;
row("own JS of a page and the two tools, gz", `${js.toFixed(1)} kB`, "<= 17 kB", js <= 17);
const asked = ["run", "drawer", "search", "plane", "overlay"].map((name) => [name, gz(`assets/${name}.js`) / 1000]);
row("JS that is loaded when it is asked for, gz", asked.map(([n, kb]) => `${n} ${kb.toFixed(1)}`).join(", ") + " kB", "<= 9 kB each", asked.every(([, kb]) => kb <= 9));
row("files, site size", `${files.length}, ${(files.reduce((n, f) => n + statSync(f).size, 0) / 1e6).toFixed(1)} MB`, "-", true);

if (!short) {
  const { default: lighthouse } = await import("lighthouse");
  const port = Number(new URL(browser.wsEndpoint()).port);
  const measured = Object.entries(kinds).filter(([k]) => k !== "404");
  if (opened[0]) measured.push(["drawer", kinds.landing + opened[0].replaceAll("&amp;", "&")], ["one run", kinds.run + opened[0].split("/")[0]]);
  for (const [kind, path] of measured) {
    if (!path || !pages.includes(path.split("#")[0])) continue;
    const { lhr } = await lighthouse(base + path, { port, logLevel: "error", output: "json" });
    const s = (c) => lhr.categories[c].score, a = (n) => lhr.audits[n].numericValue;
    row(`${kind}: Lighthouse mobile performance`, s("performance").toFixed(2), "1.00", s("performance") >= .995, false);
    row(`${kind}: accessibility, best practices, SEO`, ["accessibility", "best-practices", "seo"].map((c) => s(c).toFixed(2)).join(" "), ">= 1.00 .95 .95", s("accessibility") >= 1 && s("best-practices") >= .95 && s("seo") >= .95);
    row(`${kind}: LCP, TBT, CLS`, `${(a("largest-contentful-paint") / 1000).toFixed(2)} s, ${a("total-blocking-time").toFixed(0)} ms, ${a("cumulative-layout-shift").toFixed(3)}`, "<= 1.8 s, 100 ms, .02", a("largest-contentful-paint") <= 1800 && a("total-blocking-time") <= 100 && a("cumulative-layout-shift") <= .02, false);
    for (const c of ["accessibility", "best-practices", "seo"]) for (const ref of lhr.categories[c].auditRefs) {
      const audit = lhr.audits[ref.id];
      if (ref.weight > 0 && audit.score !== null && audit.score < 1) console.log(`lighthouse ${kind} ${c}: ${audit.title}`);
    }
  }
}
await Promise.all(browsers.map((b) => b.close()));
server.close();
const width = [0, 1, 2, 3].map((i) => Math.max(...rows.map((r) => r[i].length)));
for (const r of rows) console.log(r.map((c, i) => c.padEnd(width[i])).join("  ").trimEnd());
process.exit(missed ? 1 : 0);
