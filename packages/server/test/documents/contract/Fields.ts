import { setImmediate } from "node:timers/promises"
import ts from "typescript"
import { eachNode, pathOf } from "./Program.js"

/** A field of the contract, by the place that declares it. Records that share a declaration share the field. */
export interface Field {
  readonly name: string
  /** Where it is declared, such as `server/Webhook: fields.url`. */
  readonly title: string
  /** Whether a response has it. */
  isAnswered: boolean
  /** Whether the body of a request has it. */
  isSent: boolean
}

export type Declaration = ts.PropertyAssignment | ts.ShorthandPropertyAssignment
export type Fields = ReadonlyMap<ts.Declaration, Field>

const isDeclaration = (node: ts.Declaration): node is Declaration =>
  (ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node)) &&
  pathOf(node.getSourceFile()).startsWith("domain/src/")

/** Whether a property is of a record of ours, such as a view that holds records of the contract. */
const isOwn = ({ declarations = [] }: ts.Symbol) =>
  declarations.every((node) => !node.getSourceFile().fileName.includes("/node_modules/"))

/** Calls a function with each property of a type that the contract declares, and of what the properties hold. */
export const eachField = (
  checker: ts.TypeChecker,
  type: ts.Type,
  see: (declaration: Declaration, symbol: ts.Symbol) => void,
  seen = new Set<ts.Type>()
): void => {
  if (seen.has(type)) return
  seen.add(type)
  if (type.isUnionOrIntersection()) for (const part of type.types) eachField(checker, part, see, seen)
  if (type.isUnion() || (type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) === 0) return
  const items = [...(type.aliasTypeArguments ?? []), ...checker.getIndexInfosOfType(type).map((info) => info.type)]
  for (const item of items) eachField(checker, item, see, seen)
  if (checker.isArrayLikeType(type)) return
  for (const property of checker.getPropertiesOfType(type)) {
    if (!isOwn(property)) continue
    for (const declaration of property.declarations ?? []) if (isDeclaration(declaration)) see(declaration, property)
    eachField(checker, checker.getTypeOfSymbol(property), see, seen)
  }
}

const textOf = (name: ts.PropertyName | ts.BindingName) =>
  ts.isIdentifier(name) || ts.isStringLiteral(name) ? name.text : name.getText()

/** The name of the endpoint that a call in the declaration of a group belongs to. */
const endpointOf = (call: ts.CallExpression): string => {
  let first: ts.Expression = call
  while (ts.isCallExpression(first) && ts.isPropertyAccessExpression(first.expression)) {
    const of = first.expression.expression
    if (!ts.isCallExpression(of)) break
    first = of
  }
  const [name] = ts.isCallExpression(first) ? first.arguments : []
  return name !== undefined && ts.isStringLiteral(name) ? name.text : "?"
}

const titleOf = (declaration: Declaration): string => {
  const names: Array<string> = []
  for (let node: ts.Node = declaration; !ts.isSourceFile(node); node = node.parent) {
    if (ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node)) names.unshift(textOf(node.name))
    if (ts.isVariableDeclaration(node)) names.unshift(textOf(node.name))
    if (ts.isCallExpression(node) && callOf(node) !== undefined) {
      names.unshift(endpointOf(node))
      break
    }
  }
  const file = pathOf(declaration.getSourceFile())
    .replace(/^domain\/src\//, "")
    .replace(/\.ts$/, "")
  return `${file}: ${names.join(".")}`
}

const callOf = (node: ts.Node): "addSuccess" | "setPayload" | undefined => {
  const name =
    ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression) ? node.expression.name.text : ""
  return name === "addSuccess" || name === "setPayload" ? name : undefined
}

/** Returns the fields of all responses and bodies of requests. */
export const contractFields = async (program: ts.Program): Promise<Fields> => {
  const checker = program.getTypeChecker()
  const fields = new Map<ts.Declaration, Field>()
  const add = (node: ts.Node) => {
    const call = callOf(node)
    const [schema] = call !== undefined && ts.isCallExpression(node) ? node.arguments : []
    const type = schema === undefined ? undefined : checker.getTypeAtLocation(schema).getProperty("Type")
    if (type === undefined) return
    eachField(checker, checker.getTypeOfSymbol(type), (declaration, { name }) => {
      const field = fields.get(declaration) ?? { name, title: titleOf(declaration), isAnswered: false, isSent: false }
      field.isAnswered ||= call === "addSuccess"
      field.isSent ||= call === "setPayload"
      fields.set(declaration, field)
    })
  }
  for (const source of program.getSourceFiles()) {
    if (!pathOf(source).startsWith("domain/src/api/")) continue
    eachNode(source, add)
    await setImmediate()
  }
  return fields
}
