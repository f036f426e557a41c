import type { Page } from "playwright-core"

/** Returns what waits until a page has what it asked for, and what it asks for then. */
export const settling = (page: Page): (() => Promise<void>) => {
  const inFlight = new Set<unknown>()
  page.on("request", (request) => inFlight.add(request))
  page.on("requestfinished", (request) => inFlight.delete(request))
  page.on("requestfailed", (request) => inFlight.delete(request))
  return async () => {
    for (let quiet = 0, tries = 0; quiet < 3 && tries < 100; tries++) {
      await page.waitForTimeout(20)
      quiet = inFlight.size === 0 ? quiet + 1 : 0
    }
  }
}
