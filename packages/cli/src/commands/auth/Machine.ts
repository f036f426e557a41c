import { MachineName } from "@coffer/domain/directory/ClientLogin"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { hostname } from "node:os"

/** This machine's name as the login pages show it; undefined if the host name has no printable characters. */
export const machineName = (name: string = hostname()): { readonly machine?: MachineName } =>
  Option.match(
    Schema.decodeOption(MachineName)(
      name
        .replace(/[^A-Za-z0-9 ._-]/g, "-")
        .replace(/^[^A-Za-z0-9]+/, "")
        .slice(0, 64)
    ),
    { onNone: () => ({}), onSome: (machine) => ({ machine }) }
  )
