// Takes the pictures of the README from built sites.
//
//   node pictures.mjs OUT [--against FOLDER] NAME=SITE[@SELECTOR] ...
//
// writes OUT/NAME.webp, the front page of SITE at 1280 by 840, or less where the page is shorter; with a selector, what a
// click on that leads to. Those of the README, in .github, are made from the demo and from samples.py:
//
//   release=demo/_site series='demo/_site@.change figcaption a' drawer='demo/_site@#changed td:nth-of-type(4) a'
//   compare=samples/compare/_site
//
// With --against, each picture is compared with that of the same name in FOLDER, in squares of 16 pixels: exit 1 where more
// than a tenth of the squares that either has anything in look different. Dates stay below that. Where the fonts are not those
// of the pictures in .github (DejaVu Sans), nothing is compared.
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { resolve, join } from "node:path";
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const [out, ...sites] = process.argv.slice(2), flag = sites.indexOf("--against"), against = flag < 0 ? "" : sites.splice(flag, 2)[1];
if (!out || !sites.length) { console.error("usage: node pictures.mjs OUT [--against FOLDER] NAME=SITE ..."); process.exit(2); }
const chromium = process.env.CHROMIUM || ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
mkdirSync(out, { recursive: true });
const browser = await puppeteer.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-quic", "--allow-file-access-from-files"] });
// differing is the share of squares that differ between two pictures, of those that are not empty in both; 1 for another size.
const differing = (a, b) => Promise.all([a, b].map(async (src) => {
  const image = new Image();
  image.src = src;
  await image.decode();
  const { width, height } = image, context = new OffscreenCanvas(width, height).getContext("2d");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, width, height), across = Math.ceil(width / 16), ink = new Float64Array(across * Math.ceil(height / 16));
  for (let i = 0; i < data.length; i += 4) ink[(((i / 4 / width) | 0) >> 4) * across + (((i / 4) % width) >> 4)] += (765 - data[i] - data[i + 1] - data[i + 2]) / 765 / 256;
  return { height, ink };
})).then(([x, y]) => {
  if (Math.abs(x.height - y.height) > 32) return 1;
  let inked = 0, other = 0;
  y.ink.forEach((v, i) => { const w = x.ink[i] || 0; if (Math.max(v, w) > .03) inked++; if (Math.abs(v - w) > .03 + .5 * Math.max(v, w)) other++; });
  return other / inked;
});
const probe = await browser.newPage(), wide = await probe.evaluate(() => {
  const context = new OffscreenCanvas(9, 9).getContext("2d");
  context.font = "100px system-ui, sans-serif";
  return context.measureText("Releases 0123").width;
});
await probe.close();
const alike = Math.abs(wide - 729) < 2; // as DejaVu Sans has it
if (against && !alike) console.log("not compared: other fonts");
let stale = 0;
for (const s of sites) {
  const name = s.slice(0, s.indexOf("=")), [site, click] = s.slice(name.length + 1).split("@"), path = join(out, name + ".webp");
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 840, deviceScaleFactor: 1 });
  await page.setBypassCSP(true); // for the styles that are added below
  await page.goto(pathToFileURL(join(resolve(site), "index.html")).href + "?theme=light", { waitUntil: "networkidle0" });
  await page.addStyleTag({ content: "[data-age], #theme { display: none !important; }" }); // an age changes every day
  await page.waitForFunction(() => [...document.querySelectorAll("[data-plane]")].every((e) => e.querySelector("svg")), { timeout: 8000 });
  if (click) {
    await page.evaluate((what) => document.querySelector(what).click(), click);
    await page.waitForFunction(() => document.querySelector(".drawer dl, .drawer table, .canvas canvas"), { timeout: 8000 });
    await page.addStyleTag({ content: "[data-age], #theme { display: none !important; }" });
    await page.evaluate(() => document.documentElement.setAttribute("data-theme", "light"));
  }
  await new Promise((ok) => setTimeout(ok, 500));
  const end = await page.evaluate(() => document.querySelector("main").getBoundingClientRect().bottom);
  await page.screenshot({ path, type: "webp", quality: 82, clip: { x: 0, y: 0, width: 1280, height: Math.min(840, Math.ceil(end)) } });
  let said = "";
  if (against && alike) {
    const [now, before] = [path, join(against, name + ".webp")].map((f) => "data:image/webp;base64," + readFileSync(f).toString("base64"));
    const share = await page.evaluate(differing, now, before);
    if (share > .1) stale++;
    said = `, ${(100 * share).toFixed(1)} % of the squares differ${share > .1 ? ": take it anew" : ""}`;
  }
  console.log(path, statSync(path).size, "bytes" + said);
  await page.close();
}
await browser.close();
process.exit(stale ? 1 : 0);
