const guarded = ["SIGINT", "SIGQUIT", "SIGHUP"] as const
const ignore = () => {}

/** Ignores what would end this process before its child: ctrl-C is a key of an editor or pager, and reaches both. */
export const guardSignals = () => {
  const saved = guarded.map((signal) => ({ signal, listeners: process.listeners(signal) }))
  for (const { signal } of saved) process.removeAllListeners(signal).on(signal, ignore)
  return () => {
    for (const { listeners, signal } of saved) {
      process.off(signal, ignore)
      for (const listener of listeners) process.on(signal, listener)
    }
  }
}
