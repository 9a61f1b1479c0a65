// Opens a recording in a browser, selects an event and a variable, zooms, and reports what the page shows, as JSON.
// Arguments: the folder of the npm packages, the browser, the address, the name of a function to click on, that of a
// variable, and optionally a file for a picture.
import { report } from "../browser.mjs";

const [modules, executablePath, address, name, variable, picture] = process.argv.slice(2);
await report(modules, executablePath, address, async (page) => {
  const text = (selector) => page.$eval(selector, (found) => found.textContent);
  const until = (is, ...wanted) => page.waitForFunction(is, { timeout: 30_000 }, ...wanted);
  await until(() => document.querySelector("#state").textContent !== "" && document.querySelector(".span"));
  const first = { state: await text("#state"), title: await text("#flame-title"), about: await text("#about") };

  // The end of the call, so that its variables are there.
  const box = await page.evaluate((name) => {
    const spans = [...document.querySelectorAll(".span")];
    const found = spans.find((span) => span.querySelector("title").textContent.startsWith(`${name} (`));
    const { left, right, top, bottom } = found.querySelector("rect").getBoundingClientRect();
    return { left, right, middle: (top + bottom) / 2 };
  }, name);
  await page.mouse.click(box.right - 3, box.middle);
  await until((name) => document.querySelector("#state").textContent.includes(name) && document.querySelector(".cursor"), name);
  const clicked = { state: await text("#state"), title: await text("#state-title") };

  await page.type("#target", variable);
  await page.keyboard.press("Enter");
  await until(() => document.querySelector(".series path"));
  const values = await page.$$eval(".series title", (titles) => titles.map((title) => title.textContent));
  await page.keyboard.press("Tab");
  if (picture) await page.screenshot({ path: picture });

  await page.mouse.move(box.left, box.middle);
  await page.mouse.down();
  await page.mouse.move(box.right, box.middle, { steps: 4 });
  await page.mouse.up();
  await until((title) => document.querySelector("#flame-title").textContent !== title, first.title);
  const zoomed = await text("#flame-title");
  await page.click('[data-action="whole"]');
  await until((title) => document.querySelector("#flame-title").textContent === title, first.title);
  await page.click('[data-action="forward"]');
  await until((title) => document.querySelector("#state-title").textContent !== title, clicked.title);
  const stepped = await text("#state-title");

  // A name that there is not.
  await page.evaluate(() => (document.querySelector("#target").value = ""));
  await page.type("#target", "nothing");
  await page.keyboard.press("Enter");
  await until(() => document.querySelector("#notice").textContent !== "");
  const notice = await text("#notice");
  const address_ = await page.evaluate(() => location.href);
  return { first, clicked, values, zoomed, stepped, notice, address: address_ };
});
