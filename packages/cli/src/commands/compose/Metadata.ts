import type { OptionData } from "../../grammar/Data.js"

const parameter = ({ choices, description, name }: OptionData) => ({
  name,
  description,
  // Compose asks for required ones before it starts the provider, which then reads service.yml.
  required: false,
  type: "string",
  ...(choices === undefined ? {} : { enum: choices.join(","), default: choices[0] })
})

/** The parameters of the provider for Docker Compose, which leaves out options that are not listed here. */
export const metadata = (options: ReadonlyArray<OptionData>) => ({
  description: "Secrets of Coffer, as environment variables of the services that depend on this one",
  up: { parameters: options.map(parameter) },
  down: { parameters: [] }
})
