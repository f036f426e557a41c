import { asking, atEnv } from "../../grammar/Command.js"
import { checkSet, setSpecs, store } from "../../secrets/Set.js"

export const set = atEnv("set", {
  description:
    "Store a value: the argument, else --file, else standard input, else what you type and nobody sees; or one that --generate makes",
  examples: [
    "coffer secret set API_KEY < key.txt",
    "coffer secret set API_KEY --file key.txt --if-version 3",
    "coffer secret set SESSION_SECRET --generate",
    "coffer secret set WEBHOOK_TOKEN --generate=64,hex --if-version 0",
    "coffer secret set URL --expand 'postgres://app:${DB_PASSWORD}@db/shop'"
  ],
  options: {
    key: setSpecs.key,
    value: setSpecs.value,
    file: setSpecs.file,
    generate: setSpecs.generate,
    expand: setSpecs.expand,
    allowEmpty: setSpecs.allowEmpty,
    ifVersion: setSpecs.ifVersion,
    ...asking
  },
  check: checkSet,
  run: ({ exchange, options, path }) => store(exchange, path, options)
})
