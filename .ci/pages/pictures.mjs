// Takes the pictures of the README from built sites.
//
//   node pictures.mjs OUT NAME=SITE[@SELECTOR] ...
//
// writes OUT/NAME.webp, the front page of SITE at 1280 by 840, or less where the page is shorter; with a selector, what a
// click on that leads to. Those of the README, in .github, are made from the demo and from samples.py:
//
//   release=demo/_site series='demo/_site@.change figcaption a' drawer='demo/_site@#changed td:nth-of-type(4) a'
//   compare=samples/compare/_site
import { existsSync, mkdirSync, statSync } from "node:fs";
import { resolve, join } from "node:path";
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const [out, ...sites] = process.argv.slice(2);
if (!out || !sites.length) { console.error("usage: node pictures.mjs OUT NAME=SITE ..."); process.exit(2); }
const chromium = process.env.CHROMIUM || ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
mkdirSync(out, { recursive: true });
const browser = await puppeteer.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-quic", "--allow-file-access-from-files"] });
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
  console.log(path, statSync(path).size, "bytes");
  await page.close();
}
await browser.close();
