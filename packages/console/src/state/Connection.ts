import { effect, signal } from "@preact/signals"

/** Whether the last request got a response. */
export const isConnected = signal(true)

/** Whether the server hands out another console than this one. */
export const isOutdated = signal(false)

export const noteResponse = (): void => {
  isConnected.value = true
}

export const noteSilence = (): void => {
  isConnected.value = false
}

const probeMillis = 3_000
const checkMillis = 5 * 60_000

/** The name of the file that this module is part of: the build gives it a new one with every change. */
const ownFile = (): string => import.meta.url.slice(import.meta.url.lastIndexOf("/") + 1)

const probe = () => {
  fetch("/health", { cache: "no-store" }).then(noteResponse, noteSilence)
}

const checkVersion = async () => {
  const page = await fetch("/", { cache: "no-cache", headers: { accept: "text/html" } }).catch(() => null)
  if (page?.ok !== true) return
  const text = await page.text()
  if (text.includes("-/assets/") && !text.includes(ownFile())) isOutdated.value = true
}

/** Watches the connection and the server's version. */
export const watchConnection = (): void => {
  effect(() => {
    if (isConnected.value) return
    const timer = setInterval(probe, probeMillis)
    return () => {
      clearInterval(timer)
    }
  })
  addEventListener("offline", noteSilence)
  addEventListener("online", probe)
  if (import.meta.env.DEV) return
  setInterval(() => void checkVersion(), checkMillis)
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) void checkVersion()
  })
}
