// Opens the web viewer in a browser, waits for a stop and reports what the page shows, as JSON.
// Arguments: the folder of the npm packages, the browser, the address, a text of the state to wait for, and optionally
// a file for a picture.
const [modules, executablePath, address, awaited, picture] = process.argv.slice(2);
const { default: puppeteer } = await import(`${modules}/puppeteer-core/lib/puppeteer/puppeteer-core.js`);
const browser = await puppeteer.launch({ executablePath, headless: "shell", args: ["--no-sandbox"] });
try {
  const page = await browser.newPage();
  const problems = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  page.on("requestfailed", (request) => problems.push(`failed: ${new URL(request.url()).pathname}`));
  await page.setViewport({ width: 1280, height: 620 });
  await page.goto(address);
  // What is read of a stop comes after it.
  const isThere = (awaited) =>
    document.querySelector("#state").innerText.includes(awaited) &&
    document.querySelector("#source .is-current") &&
    document.querySelector("#variables").innerText.trim() !== "";
  await page.waitForFunction(isThere, { timeout: 30_000 }, awaited);
  const shown = await page.evaluate(() => {
    const text = (selector) => document.querySelector(selector)?.innerText ?? "";
    return {
      title: document.title,
      state: text("#state"),
      sessions: text("#sessions"),
      timeline: text("#timeline"),
      sourceTitle: text("#source-title"),
      current: text("#source .is-current"),
      source: text("#source"),
      variables: text("#variables"),
      stack: text("#stack"),
      output: text("#output"),
      address: location.href,
    };
  });
  if (picture) await page.screenshot({ path: picture });
  console.log(JSON.stringify({ ...shown, problems }));
} finally {
  await browser.close();
}
