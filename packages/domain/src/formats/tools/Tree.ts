/** A value of a JSON or YAML document, with its line. Texts hold values in clear text. */
export type Tree = Scalar | List | Dictionary

export interface Scalar {
  readonly type: "text" | "number" | "boolean" | "null"
  readonly line: number
  /** A text, or another scalar as the document spells it. */
  readonly text: string
  /** Notes for a person on unexpected readings of the text, as the ends of sentences "KEY …". */
  readonly notes?: ReadonlyArray<string>
}

export interface List {
  readonly type: "list"
  readonly line: number
  readonly items: ReadonlyArray<Tree>
}

export interface Member {
  readonly key: string
  readonly line: number
  readonly value: Tree
}

export interface Dictionary {
  readonly type: "map"
  readonly line: number
  /** In their order; a key may occur twice. */
  readonly members: ReadonlyArray<Member>
}

/** How deep a document may be nested. */
export const maxDepth = 64

export const isMap = (tree: Tree | undefined): tree is Dictionary => tree?.type === "map"
export const isList = (tree: Tree | undefined): tree is List => tree?.type === "list"
export const isScalar = (tree: Tree): tree is Scalar => tree.type !== "map" && tree.type !== "list"

/** The value of a key, if the tree is a map that has it. */
export const at = (tree: Tree | undefined, ...keys: ReadonlyArray<string>): Tree | undefined =>
  keys.reduce<Tree | undefined>(
    (found, key) => (isMap(found) ? found.members.find((member) => member.key === key)?.value : undefined),
    tree
  )

/** The text of a key, if the tree is a map that has one. */
export const textAt = (tree: Tree | undefined, ...keys: ReadonlyArray<string>): string | undefined => {
  const found = at(tree, ...keys)
  return found?.type === "text" ? found.text : undefined
}

export const has = (tree: Tree, ...keys: ReadonlyArray<string>): boolean =>
  keys.every((key) => at(tree, key) !== undefined)
