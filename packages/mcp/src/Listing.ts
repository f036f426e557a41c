import type { ObjectSchema } from "./JsonSchemas.js"
import type { Hints, Offer } from "./Offers.js"
import { tools } from "./Tools.js"

/** A tool as `tools/list` returns it. */
export interface Listed {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: ObjectSchema
  readonly outputSchema: ObjectSchema
  readonly annotations: Hints
}

/** A tool of the list, and when it is offered. */
export interface ListedTool extends Listed, Pick<Offer, "when"> {}

/** Every tool, from the schemas of the contract. The build calls this, because loading the schemas doubles the start. */
export const listing = (): ReadonlyArray<ListedTool> =>
  tools.map(({ annotations, description, inputSchema, name, outputSchema, title, when }) => ({
    name,
    title,
    description,
    inputSchema: inputSchema(),
    outputSchema: outputSchema(),
    annotations,
    when
  }))
