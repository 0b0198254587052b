// Takes the pictures of the README from built sites.
//
//   node pictures.mjs OUT NAME=SITE ...          for the README: .github site=ttreport-demo/_site, from ttreport demo
//
// writes OUT/NAME.png, the front page of SITE at 1280 by 900.
import { existsSync, mkdirSync } from "node:fs";
import { resolve, join } from "node:path";
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const [out, ...sites] = process.argv.slice(2);
if (!out || !sites.length) { console.error("usage: node pictures.mjs OUT NAME=SITE ..."); process.exit(2); }
const chromium = process.env.CHROMIUM || ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
mkdirSync(out, { recursive: true });
const browser = await puppeteer.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-quic", "--allow-file-access-from-files"] });
for (const s of sites) {
  const [name, site] = s.split("=");
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 900, deviceScaleFactor: 1 });
  await page.goto(pathToFileURL(join(resolve(site), "index.html")).href + "?theme=light", { waitUntil: "networkidle0" });
  await page.addStyleTag({ content: "[data-age], #theme { display: none !important; }" }).catch(() => {}); // an age changes every day
  await new Promise((ok) => setTimeout(ok, 300));
  await page.screenshot({ path: join(out, name + ".png") });
  await page.close();
}
await browser.close();
