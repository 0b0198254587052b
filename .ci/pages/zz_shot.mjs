import puppeteer from "puppeteer-core"; import { pathToFileURL } from "node:url"; import { resolve } from "node:path";
const [out, url, ...opt] = process.argv.slice(2);
const b = await puppeteer.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-quic", "--allow-file-access-from-files"] });
const [p, h] = url.split("#");
for (const w of [1440, 390]) for (const t of opt.includes("dark") ? ["light", "dark"] : ["light"]) {
  const page = await b.newPage(); await page.setViewport({ width: w, height: w < 400 ? 844 : 900, isMobile: w < 400, hasTouch: w < 400 });
  const [f, q] = p.split("?");
  await page.goto(pathToFileURL(resolve(f)).href + "?theme=" + t + (q ? "&" + q : "") + (h ? "#" + h : ""), { waitUntil: "networkidle0" });
  const click = opt.find((o) => o.startsWith("click=")); if (click) { await page.click(click.slice(6)); await new Promise((r) => setTimeout(r, 700)); }
  const js = opt.find((o) => o.startsWith("js=")); if (js) { console.log(await page.evaluate(js.slice(3))); await new Promise((r) => setTimeout(r, 700)); }
  await new Promise((r) => setTimeout(r, 400));
  console.log(w, t, await page.evaluate(() => `height ${document.documentElement.scrollHeight} screens ${(document.documentElement.scrollHeight / innerHeight).toFixed(1)} scrollW ${document.documentElement.scrollWidth}`));
  await page.screenshot({ path: `${out}-${w}${t == "dark" ? "-dark" : ""}.png`, fullPage: !opt.includes("view") }); await page.close();
}
await b.close();
