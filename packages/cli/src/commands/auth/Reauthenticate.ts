import { NotAuthenticated } from "@coffer/client/internal/Credentials"
import { Variables } from "@coffer/client/internal/Variables"
import { parseServerUrl } from "@coffer/client/internal/ServerUrl"
import { withMessage } from "@coffer/domain/base/Message"
import { PasskeyId, type SessionId } from "@coffer/domain/base/Ids"
import { type Passkey, PasskeyName } from "@coffer/domain/directory/Passkey"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { momentCell } from "../../base/Moments.js"
import { CannotDo, NotThere, WrongUsage } from "../../base/Failures.js"
import { meantBy } from "../../grammar/IdKinds.js"
import { atServer, group, wide } from "../../grammar/Command.js"
import { argument } from "../../grammar/Fields.js"
import { questionAbout } from "../../grammar/Words.js"
import { noBrowserReason, openBrowser } from "../../terminal/Browser.js"
import { note } from "../../terminal/Print.js"
import { doneView, listView } from "../../terminal/View.js"

const minutes = 10

const noSession = new CannotDo({
  message: "run coffer login first: a passkey verifies only a person's session"
})

const noPasskey = new CannotDo({
  message: "you have no passkey, so a new login is enough: run coffer login"
})

const noPublicUrl = new CannotDo({
  message: "passkeys are off on this server: an operator has to set SERVICE_PUBLIC_URL, the address of its browsers"
})

const tooLate = new NotAuthenticated({
  message: `nobody used a passkey in the browser within ${minutes} minutes; run coffer reauthenticate again`
})

/** The page that asks for the passkey. The server's word is checked: an opener takes more than web pages. */
const pageOf = (publicUrl: string, session: SessionId) =>
  Either.mapBoth(parseServerUrl(publicUrl, "flag"), {
    onLeft: ({ message }) => new CannotDo({ message: `the server's address for browsers ${message}` }),
    onRight: ({ base }) => new URL(`${base}/-/account?session=${session}`)
  })

export const reauthenticate = atServer("reauthenticate", {
  description: "Verify with your passkey, in a browser, for commands that need a recent login",
  examples: ["coffer reauthenticate"],
  options: {},
  run: ({ call }) =>
    Effect.gen(function* () {
      const current = Effect.map(
        call("auth", (api) => api.sessions({})),
        ({ data }) => data.find((session) => session.current)
      )
      const before = yield* current
      if (before === undefined) return yield* noSession
      if ((yield* call("passkeys", (api) => api.list({}))).data.length === 0) return yield* noPasskey
      const { public_url } = yield* call("auth", (api) => api.methods({}))
      if (public_url === null) return yield* noPublicUrl
      const page = yield* pageOf(public_url, before.id)
      yield* note(`use your passkey in a browser, on any machine, at ${page.href}`)
      if (noBrowserReason(yield* Variables) === undefined) yield* openBrowser(page)
      yield* Effect.delay(current, "2 seconds").pipe(
        Effect.repeat({ until: (session) => session?.passkey_at !== before.passkey_at }),
        Effect.timeoutFail({ duration: `${minutes} minutes`, onTimeout: () => tooLate })
      )
      return doneView("this session is proven with your passkey", { session_id: before.id })
    })
})

const columns = {
  id: ({ id }: Passkey) => id,
  name: ({ name }: Passkey) => name,
  created: ({ created_at }: Passkey) => momentCell(created_at),
  "last used": ({ last_used_at }: Passkey) => momentCell(last_used_at)
}

const list = atServer("list", {
  description: "List your passkeys",
  examples: ["coffer passkey list", "coffer passkey list --json"],
  options: { wide },
  run: ({ call }) =>
    Effect.map(
      call("passkeys", (api) => api.list({})),
      (found) =>
        listView(found, columns, "there are no passkeys; register one in the console, under My account", [
          "name",
          "last used"
        ])
    )
})

const NameOrId = Schema.Union(PasskeyId, PasskeyName).annotations(
  withMessage("must be the name or the id of a passkey")
)

const remove = atServer("remove", {
  description: "Remove a passkey, such as one that you have lost",
  examples: ["coffer passkey remove adas-laptop"],
  options: { nameOrId: argument("NAME_OR_ID", NameOrId, "The passkey, by name or id") },
  run: ({ call, options: { nameOrId } }) =>
    Effect.gen(function* () {
      const { data } = yield* call("passkeys", (api) => api.list({}))
      const [found, ...others] = meantBy(data, nameOrId)
      if (others.length > 0) {
        return yield* new WrongUsage({
          message: `${nameOrId} is the beginning of the ids of several passkeys; give more of it`
        })
      }
      if (found === undefined) {
        const question = questionAbout(
          nameOrId,
          data.map(({ name }) => name)
        )
        return yield* new NotThere({
          message: `you have no passkey ${nameOrId}${question} coffer passkey list shows them`
        })
      }
      yield* call("passkeys", (api) => api.delete({ path: { passkey_id: found.id } }))
      return doneView(`passkey ${found.name} removed`, { id: found.id })
    })
})

export const passkeyCommand = group("passkey", "Your passkeys: the console registers them", [list, remove])
