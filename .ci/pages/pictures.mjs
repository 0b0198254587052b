// Takes the pictures of the README from built sites.
//
//   node pictures.mjs OUT NAME=SITE ...
//
// writes OUT/NAME.webp, the front page of SITE at 1280 by 840, or less where the page is shorter. Those of the README, in
// .github, are made from the demo and from samples.py: release=demo/_site nightly=samples/nightly/_site
// compare=samples/compare/_site evals=samples/evals/_site
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
  const [name, site] = s.split("="), path = join(out, name + ".webp");
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 840, deviceScaleFactor: 1 });
  await page.goto(pathToFileURL(join(resolve(site), "index.html")).href + "?theme=light", { waitUntil: "networkidle0" });
  await page.addStyleTag({ content: "[data-age], #theme { display: none !important; }" }).catch(() => {}); // an age changes every day
  await page.waitForFunction(() => [...document.querySelectorAll("[data-plane]")].every((e) => e.querySelector("svg")), { timeout: 8000 });
  await new Promise((ok) => setTimeout(ok, 300));
  const end = await page.evaluate(() => document.querySelector("main").getBoundingClientRect().bottom);
  await page.screenshot({ path, type: "webp", quality: 82, clip: { x: 0, y: 0, width: 1280, height: Math.min(840, Math.ceil(end)) } });
  console.log(path, statSync(path).size, "bytes");
  await page.close();
}
await browser.close();
