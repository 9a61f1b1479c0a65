// Opens a page in a browser and reports what a script sees there, as JSON, with what went wrong in it.
export async function report(modules, executablePath, address, look) {
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
    console.log(JSON.stringify({ ...(await look(page)), problems }));
  } finally {
    await browser.close();
  }
}
