// Opens the web viewer in a browser, waits for a stop and reports what the page shows, as JSON.
// Arguments: the folder of the npm packages, the browser, the address, a text of the state to wait for, and optionally
// a file for a picture.
import { report } from "../browser.mjs";

const [modules, executablePath, address, awaited, picture] = process.argv.slice(2);
await report(modules, executablePath, address, async (page) => {
  // What is read of a stop comes after it, and the timeline by itself.
  const isThere = (awaited) =>
    document.querySelector("#state").innerText.includes(awaited) &&
    document.querySelector("#timeline").innerText.trim() !== "" &&
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
  return shown;
});
