import type { ServerFacts } from "@coffer/domain/ServerFacts"
import { signal } from "@preact/signals"

/** What the server offers; null until it has said. */
export const facts = signal<ServerFacts | null>(null)

/** Whether requests with secrets are made by use rules. */
export const hasUses = (): boolean => facts.value?.uses === true
