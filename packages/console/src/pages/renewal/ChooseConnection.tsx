import type { Connection } from "@coffer/domain/secrets/Connection"
import type { Signal } from "@preact/signals"
import { Choose } from "../../kit/Choose.js"

interface ChooseConnectionProps {
  readonly connections: ReadonlyArray<Connection>
  readonly of: Signal<string>
}

export const ChooseConnection = ({ connections, of }: ChooseConnectionProps) =>
  connections.length === 0 ? (
    <p class="hint bad">There is no connection yet: make one first.</p>
  ) : (
    <Choose
      label="Connection"
      value={of.value}
      words={connections.map(({ name }): string => name)}
      choose={(next) => (of.value = next)}
    />
  )
