import { AsyncLocalStorage } from "node:async_hooks"
import { renewing } from "../internal/Renewal.js"
import type { Closable } from "./Closable.js"

/** A resource that is opened again when one of its keys changes. */
export interface Reloaded<A> extends Closable {
  /** The resource of now. It may be closed after the next change: `use` keeps it open for as long as some work. */
  readonly current: A
  /** Does some work with the resource, which is not closed before the work has ended. */
  readonly use: <B>(work: (resource: A) => B | PromiseLike<B>) => Promise<B>
  /** Ends the renewal. Closes the resource once the work with it has ended; inside of `use`, it does not wait for that. */
  readonly close: () => Promise<void>
}

/** The work of `use` that runs here. */
const running = new AsyncLocalStorage<{ hasEnded: boolean }>()

/** Work that waits for an end that waits for the work would wait forever. */
const waits = (): boolean => running.getStore()?.hasEnded ?? true

/** The parts of a connection that a reload needs. `get` and `values` are of the same moment. */
interface Watched {
  readonly get: (key: string) => string
  readonly values: () => ReadonlyMap<string, string>
  readonly onChange: (listener: () => void) => () => void
  readonly warn: (message: string) => void
  /** Receives what ends the resource, until it has ended. */
  readonly open: Set<() => Promise<void>>
}

interface Resource<Key extends string, A> {
  readonly keys: ReadonlyArray<Key>
  readonly open: (values: Readonly<Record<Key, string>>) => A | PromiseLike<A>
  readonly close: (resource: A) => unknown
}

const hasKeys = <Key extends string>(
  values: Readonly<Record<string, string>>,
  keys: ReadonlyArray<Key>
): values is Readonly<Record<Key, string>> => keys.every((key) => key in values)

export const reload = async <Key extends string, A>(
  { get, onChange, open: opened, values, warn }: Watched,
  { close, keys, open }: Resource<Key, A>
): Promise<Reloaded<A>> => {
  const name = `the resource of ${keys.join(", ")}`
  const renewal = await renewing<A>({
    texts: () => {
      const now = values()
      return keys.map((key) => now.get(key))
    },
    open: async () => {
      const found = Object.fromEntries(keys.map((key) => [key, get(key)]))
      if (!hasKeys(found, keys)) throw new Error(`${name} lacks a value`)
      return open(found)
    },
    close,
    warn,
    name
  })
  const end = onChange(renewal.look)
  renewal.look()
  let isClosed = false
  const stop = () => {
    isClosed = true
    end()
    const ended = renewal.close().finally(() => opened.delete(stop))
    return waits() ? ended : Promise.resolve()
  }
  opened.add(stop)
  return {
    get current() {
      return renewal.current().resource
    },
    use: async (work) => {
      if (isClosed) throw new Error(`${name} is closed`)
      const { hold, resource } = renewal.current()
      const release = hold()
      const state = { hasEnded: false }
      try {
        return await running.run(state, async () => work(resource))
      } finally {
        state.hasEnded = true
        release()
      }
    },
    close: stop,
    [Symbol.asyncDispose]: stop
  }
}
