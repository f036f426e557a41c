import { ValidationError } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"
import { ServerConfig } from "../../base/Config.js"
import { ClientDocuments, isDocumentAddress } from "./ClientDocuments.js"
import type { Program } from "./Program.js"
import { isLocalRedirect } from "./RedirectUri.js"
import { Registrations } from "./Registrations.js"

const unknown = new ValidationError({
  message:
    "client_id: is not the https address of a client's document, and not an id of this server: let the program register again"
})

const notAllowed = (host: string) =>
  new ValidationError({
    message: `client_id: programs of ${host} may not ask on this server: its operator can add the host to SERVICE_OAUTH_CLIENTS`
  })

/** Whether a host is one of the operator's list, which has names, and names below a domain as `*.example.com`. */
const isListed = (list: ReadonlyArray<string>, host: string): boolean =>
  list.some((entry) => entry === "*" || entry === host || (entry.startsWith("*.") && host.endsWith(entry.slice(1))))

/** The programs that may ask people for delegations. */
export class Programs extends Effect.Service<Programs>()("@coffer/server/consents/AskingPrograms", {
  effect: Effect.gen(function* () {
    const { oauthClients } = yield* ServerConfig
    const documents = yield* ClientDocuments
    const registrations = yield* Registrations

    const admit = (program: Program, hosts: ReadonlyArray<string>): Effect.Effect<Program, ValidationError> => {
      const stranger = hosts.find((host) => !isListed(oauthClients, host))
      return stranger === undefined ? Effect.succeed(program) : notAllowed(stranger)
    }

    return {
      /** Fails with ValidationError, whose message may be shown, and after which the browser is led nowhere. */
      find: (id: string): Effect.Effect<Program, ValidationError> => {
        if (registrations.isRegistered(id)) {
          const program = registrations.find(id)
          if (program === null) return unknown
          const remote = program.redirectUris.filter((uri) => !isLocalRedirect(uri))
          return admit(
            program,
            remote.map((uri) => new URL(uri).hostname)
          )
        }
        if (!isDocumentAddress(id)) return unknown
        const { hostname } = new URL(id)
        return isListed(oauthClients, hostname) ? documents.find(id) : notAllowed(hostname)
      }
    } as const
  }),
  dependencies: [ClientDocuments.Default, Registrations.Default]
}) {}
