import { assert, describe, it } from "@effect/vitest"
import { makeScrub } from "@coffer/server/secrets/use/Scrub"
import { makeStreamScrub } from "@coffer/server/secrets/use/StreamScrub"
import { spellingsOf } from "@coffer/domain/secrets/Spellings"
import { Effect } from "effect"

const value = 'sk_live_"Canary7/ü'

/** The text that leaves, of parts that come one after another; null where it is withheld. */
const streamed = (parts: ReadonlyArray<string>, values: ReadonlyArray<string> = [value]) =>
  Effect.gen(function* () {
    const scrub = yield* makeStreamScrub(values)
    const sent: Array<string> = []
    for (const part of parts) {
      const clean = yield* scrub.push(part)
      if (clean === null) return null
      sent.push(clean.text)
    }
    const last = yield* scrub.end
    return last === null ? null : [...sent, last.text]
  })

const split = (text: string, at: number) => [text.slice(0, at), text.slice(at)]

describe("the scrub of a stream", () => {
  it.effect("replaces every spelling, split at every boundary, as the scrub of a whole text does", () =>
    Effect.gen(function* () {
      const whole = yield* makeScrub([value])
      for (const { text } of spellingsOf(value)) {
        const line = `data: {"a":"${text}"}\n\n`
        const wanted = yield* whole(line)
        for (let at = 0; at <= line.length; at++) {
          assert.strictEqual(
            (yield* streamed(split(line, at)))?.join("") ?? null,
            wanted?.text ?? null,
            `${text} at ${at}`
          )
        }
        assert.strictEqual((yield* streamed([...line]))?.join("") ?? null, wanted?.text ?? null, text)
      }
    })
  )

  it.effect("passes on at once all but what may begin a value", () =>
    Effect.gen(function* () {
      const scrub = yield* makeStreamScrub([value])
      assert.strictEqual((yield* scrub.push("data: hello\n\n"))?.text, "data: hello\n")
      assert.strictEqual((yield* scrub.push("data: sk_live_"))?.text, "\ndata:")
      assert.strictEqual((yield* scrub.push("Other\n\n"))?.text, " sk_live_Other\n")
      assert.strictEqual((yield* scrub.end)?.text, "\n")
    })
  )

  it.effect("withholds a value in an encoding of an encoding, also if it comes in two parts", () =>
    Effect.gen(function* () {
      const twice = Buffer.from(Buffer.from(`key=${value}`).toString("base64")).toString("base64")
      const line = `data: ${twice}\n\n`
      for (let at = 0; at < line.length; at++) assert.isNull(yield* streamed(split(line, at)), `${at}`)
    })
  )

  it.effect("withholds a text that only repeats a value, instead of holding it all back", () =>
    Effect.gen(function* () {
      assert.isNull(yield* streamed(["a".repeat(40_000), "a".repeat(40_000)], ["aaaaaaaa"]))
    })
  )

  it.effect("scrubs 2,000 events in which the value is split over every boundary", () =>
    Effect.gen(function* () {
      const key = "sk_live_Canary7"
      const scrub = yield* makeStreamScrub([key])
      let sent = ""
      for (let event = 0; event < 2_000; event++) {
        const at = event % (key.length + 1)
        for (const part of [`data: ${event} ${key.slice(0, at)}`, `${key.slice(at)}\n\n`]) {
          sent += (yield* scrub.push(part))?.text ?? assert.fail("withheld")
        }
      }
      sent += (yield* scrub.end)?.text ?? assert.fail("withheld")
      assert.notInclude(sent, "Canary7")
      assert.strictEqual(sent.match(/data: [0-9]+ \[scrubbed\]\n\n/g)?.length, 2_000)
    })
  )
})
