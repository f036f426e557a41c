import type { User } from "@coffer/domain/User"
import { signal } from "@preact/signals"

/** Who is logged in; null until the server has said. */
export const me = signal<User | null>(null)
