/** ESLint rules for the words of comments and test titles: both must read once. */

const opening = /^[*\s]*(What|Who|None|Nobody)\b/
const vague = /\b(that is|neither|none)\b/i
const definitions = new Set(["describe", "it", "test"])

/** The name at the beginning of a callee: `it` of `it.effect` and of `it.each(rows)`. */
const rootOf = (node) =>
  node.type === "Identifier"
    ? node.name
    : node.type === "MemberExpression"
      ? rootOf(node.object)
      : node.type === "CallExpression" || node.type === "TaggedTemplateExpression"
        ? rootOf(node.callee ?? node.tag)
        : undefined

const textOf = (node) =>
  node?.type === "Literal"
    ? String(node.value)
    : node?.type === "TemplateLiteral"
      ? node.quasis.map(({ value }) => value.raw).join("…")
      : ""

export const words = {
  rules: {
    "comment-opening": {
      create: (context) => ({
        Program: () => {
          for (const { loc, value } of context.sourceCode.getAllComments()) {
            const word = opening.exec(value)?.[1]
            if (word)
              context.report({ loc, message: `Begin with the thing that the comment describes, not with ${word}.` })
          }
        }
      })
    },
    "test-title": {
      create: (context) => ({
        CallExpression: (node) => {
          const word = vague.exec(textOf(node.arguments[0]))?.[1]
          if (!word || !definitions.has(rootOf(node.callee))) return
          context.report({ node, message: `Name the thing in the title of a test, instead of "${word}".` })
        }
      })
    }
  }
}
