import type { Page } from "playwright-core"

/** Holds requests of a page back until they are let go. */
export const hold = async (page: Page, method: string, address: string): Promise<() => Promise<void>> => {
  let go = () => {}
  const held = new Promise<void>((resolve) => (go = resolve))
  await page.route(address, async (route) => {
    if (route.request().method() === method) await held
    await route.fallback()
  })
  return async () => {
    const answered = page.waitForResponse((response) => response.request().method() === method)
    go()
    await answered
    await page.unroute(address)
    // The page has handled the response by then.
    await page.waitForTimeout(200)
  }
}
