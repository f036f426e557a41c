import { assert, describe, it } from "vitest"
import { tree } from "../../src/Commands.js"

const leaves = tree.nodes.flatMap((node) =>
  node.type === "command"
    ? [{ leaf: node, path: node.name }]
    : node.commands.map((leaf) => ({ leaf, path: `${node.name} ${leaf.name}` }))
)

describe("the data of coffer", () => {
  it.each(leaves)("$path describes itself, its options and its arguments", ({ leaf }) => {
    for (const { description, name } of [leaf, ...leaf.options, ...leaf.arguments]) {
      assert.match(description, /^[A-Z-].{8,}[^.;,]$|^use values/s, name)
      assert.notMatch(description, /`|undefined/, name)
    }
  })

  it("has no name twice in a command", () => {
    for (const { leaf, path } of leaves) {
      const names = [...leaf.options, ...leaf.arguments].map(({ name }) => name)
      assert.lengthOf(new Set(names), names.length, path)
    }
  })

  it("holds the values of choices, for the messages and the completions", () => {
    const choices = leaves.flatMap(({ leaf }) =>
      [...leaf.options, ...leaf.arguments].flatMap(({ choices }) => (choices === undefined ? [] : [choices.join(" ")]))
    )
    assert.sameMembers(
      [...new Set(choices)],
      [
        "member developer admin owner",
        "use read write admin",
        "doppler infisical vault aws-sm 1password sops dotenvx kubernetes phase",
        "env shell docker json yaml",
        "use read write",
        "GET HEAD POST PUT PATCH DELETE",
        "status json text stream",
        "postgres mysql http",
        "verify-full verify-ca require",
        "none each",
        "vault github-actions gitlab kubernetes aws-secrets-manager aws-parameter-store vercel cloudflare",
        "own never",
        "never monthly",
        "login none",
        "off push repair",
        "access change use export",
        "action actor",
        "up down metadata",
        "coffer slack discord teams ntfy",
        "get list store erase",
        "false true",
        "bash zsh fish",
        "dokploy coolify varlock fnox openclaw komodo n8n vault-secrets-operator csi-provider"
      ]
    )
  })
})
