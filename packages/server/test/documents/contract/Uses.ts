import { setImmediate } from "node:timers/promises"
import ts from "typescript"
import { eachField, type Field, type Fields } from "./Fields.js"
import { eachNode, pathOf } from "./Program.js"

/** The fields of the contract that a program reads, prints and sends. */
export interface Uses {
  /** Fields that its code reads from a record. */
  readonly read: ReadonlySet<Field>
  /** Fields of records that it prints whole, as JSON. */
  readonly printed: ReadonlySet<Field>
  /** Fields that it gives to a call. */
  readonly sent: ReadonlySet<Field>
}

/** Functions of the command line that print a record as JSON, with the position of the record. */
const printers: Readonly<Record<string, number>> = { listView: 0, recordView: 0, doneView: 1, printJson: 0, toJson: 0 }

/** The modules that a program runs: its own, and those of the contract and the client that it imports for more than types. */
const modulesOf = (program: ts.Program, name: string): ReadonlyArray<ts.SourceFile> => {
  const checker = program.getTypeChecker()
  const found = new Set(program.getSourceFiles().filter((source) => pathOf(source).startsWith(`${name}/src/`)))
  for (const source of found) {
    for (const statement of source.statements) {
      if (!ts.isImportDeclaration(statement) || statement.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword)
        continue
      const imported = checker.getSymbolAtLocation(statement.moduleSpecifier)?.valueDeclaration
      if (imported === undefined || !ts.isSourceFile(imported)) continue
      if (/^(domain|client)\/src\//.test(pathOf(imported))) found.add(imported)
    }
  }
  return [...found]
}

/** Returns what a package does with fields. */
export const usesIn = async (program: ts.Program, fields: Fields, name: "cli" | "console"): Promise<Uses> => {
  const checker = program.getTypeChecker()
  const names = new Set([...fields.values()].map((field) => field.name))
  const read = new Set<Field>()
  const printed = new Set<Field>()
  const sent = new Set<Field>()

  const note = (into: Set<Field>, symbol: ts.Symbol | undefined) => {
    for (const declaration of symbol?.declarations ?? []) {
      const field = fields.get(declaration)
      if (field !== undefined) into.add(field)
    }
  }
  const propertiesOf = (type: ts.Type, property: string): ReadonlyArray<ts.Symbol> => {
    const some = checker.getNonNullableType(type)
    return (some.isUnion() ? some.types : [some]).flatMap((part) => part.getProperty(property) ?? [])
  }
  const noteRead = (of: ts.Node, property: string) => {
    if (!names.has(property)) return
    for (const symbol of propertiesOf(checker.getTypeAtLocation(of), property)) note(read, symbol)
  }
  const notePrinted = (record: ts.Expression) =>
    eachField(checker, checker.getTypeAtLocation(record), (_declaration, symbol) => note(printed, symbol))

  /** Compares what is given with what is asked for, by the names of both. */
  const noteSent = (given: ts.Type, wanted: ts.Type, at: ts.Node, depth = 0): void => {
    if (depth > 8) return
    const items = checker.getIndexTypeOfType(checker.getNonNullableType(wanted), ts.IndexKind.Number)
    const some = checker.getIndexTypeOfType(checker.getNonNullableType(given), ts.IndexKind.Number)
    if (items !== undefined && some !== undefined) return noteSent(some, items, at, depth + 1)
    for (const part of given.isUnion() ? given.types : [given]) {
      for (const property of checker.getPropertiesOfType(part)) {
        for (const target of propertiesOf(wanted, property.name)) {
          if (!names.has(property.name) && !["payload", "data"].includes(property.name)) continue
          note(sent, target)
          const type = checker.getTypeOfSymbolAtLocation(property, at)
          noteSent(type, checker.getTypeOfSymbolAtLocation(target, at), at, depth + 1)
        }
      }
    }
  }

  for (const source of modulesOf(program, name)) {
    const isOwn = pathOf(source).startsWith(`${name}/`)
    eachNode(source, (node) => {
      if (ts.isPropertyAccessExpression(node)) noteRead(node.expression, node.name.text)
      if (ts.isBindingElement(node) && ts.isObjectBindingPattern(node.parent)) {
        const property = node.propertyName ?? node.name
        if (ts.isIdentifier(property)) noteRead(node.parent, property.text)
      }
      if (!isOwn || !ts.isCallExpression(node)) {
        if (isOwn && ts.isPropertyAssignment(node) && node.name.getText() === "json") notePrinted(node.initializer)
        return
      }
      const record = ts.isIdentifier(node.expression) ? printers[node.expression.text] : undefined
      const argument = record === undefined ? undefined : node.arguments[record]
      if (argument !== undefined) notePrinted(argument)
      for (const given of node.arguments) {
        const isCall =
          ts.isObjectLiteralExpression(given) &&
          given.properties.some((property) => property.name?.getText() === "payload")
        const wanted = isCall ? checker.getContextualType(given) : undefined
        if (wanted !== undefined) noteSent(checker.getTypeAtLocation(given), wanted, given)
      }
    })
    // The process of the tests hears nothing of this worker meanwhile.
    await setImmediate()
  }
  return { read, printed, sent }
}
