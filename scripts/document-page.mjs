/** A page of the documentation as HTML, for a browser: without scripts, and with nothing from elsewhere. */
import { createHash } from "node:crypto"
import { posix } from "node:path"
import { Marked } from "marked"

const style = `
:root{color-scheme:light dark;--back:light-dark(#fff,#101113);--text:light-dark(#17181c,#ececef);--quiet:light-dark(#5b5f69,#a3a7b0);--line:light-dark(#e4e5e9,#2a2c31);--code:light-dark(#f4f4f6,#1b1c20);--accent:light-dark(#2450b8,#93b4ff)}
*{box-sizing:border-box}
html{scroll-padding-top:1rem}
body{margin:0;background:var(--back);color:var(--text);font:1rem/1.6 system-ui,sans-serif}
header,main,footer{max-width:64rem;margin:0 auto;padding:0 1.25rem}
main>:not(.table){max-width:48rem}
header{padding-block:1rem;border-bottom:1px solid var(--line)}
header nav{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;font-size:.875rem}
header a:first-child{font-weight:600}
h1{margin:2rem 0 1rem;font-size:1.75rem;line-height:1.25}
h2{margin:2.5rem 0 .75rem;font-size:1.25rem;line-height:1.3}
h3{margin:2rem 0 .5rem;font-size:1.0625rem}
:is(h2,h3) a{color:inherit;text-decoration:none}
:is(h2,h3) a:hover{text-decoration:underline}
p,li,td,th{overflow-wrap:anywhere}
ul,ol{padding-left:1.5rem}
li{margin:.25rem 0}
a{color:var(--accent)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
code,pre{font:.875em/1.5 ui-monospace,monospace}
code{padding:.1em .3em;background:var(--code);border-radius:.25rem}
pre{margin:1rem 0;padding:.75rem 1rem;overflow-x:auto;background:var(--code);border:1px solid var(--line);border-radius:.5rem}
pre code{padding:0;background:none}
.table{margin:1rem 0;overflow-x:auto}
table{width:100%;border-collapse:collapse;font-size:.9375rem}
th,td{padding:.4rem .75rem .4rem 0;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
td:first-child code{white-space:nowrap}
img{max-width:100%;height:auto}
.contents{margin:1.25rem 0;padding:.75rem 1rem;border:1px solid var(--line);border-radius:.5rem;font-size:.875rem}
.contents ul{margin:.25rem 0 0;columns:16rem;padding-left:1.25rem}
.contents li{margin:0;padding:.125rem 0}
footer{margin-top:3rem;padding-block:1rem;border-top:1px solid var(--line);color:var(--quiet);font-size:.875rem}
`

/** No scripts, no external resources, no frames. Only this style, by its hash. */
export const pagePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join("; ")

export const doors = [
  ["i-write-a-program", "I write a program"],
  ["i-run-the-server", "I run the server"],
  ["i-review-security", "I review security"],
  ["i-build-with-agents", "I build with agents"]
]

const escaped = (text) =>
  text.replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign])

/** An anchor, as GitHub makes it of a heading. */
const slugOf = (heading) =>
  heading
    .replace(/<[^>]*>|`/g, "")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/ /g, "-")

/** Where a link of a page leads on a server; undefined for files that only the repository has. */
const servedAt = (name, href) => {
  if (/^(?:https:|mailto:|#|\/)/.test(href)) return href
  const [path, anchor] = href.split("#")
  const target = posix.join("/docs", posix.dirname(name), path)
  if (!target.startsWith("/docs/")) return undefined
  return `${target.replace(/\.md$/, "")}${anchor === undefined ? "" : `#${anchor}`}`
}

/** Returns the HTML of a page, given its name such as `operations/restore`, its title and its Markdown. */
export const documentPage = ({ name, text, title }) => {
  const seen = new Map()
  const contents = []
  const marked = new Marked({
    renderer: {
      heading({ depth, text: heading, tokens }) {
        const slug = slugOf(heading)
        const count = seen.get(slug) ?? 0
        seen.set(slug, count + 1)
        const id = count === 0 ? slug : `${slug}-${count}`
        const inline = this.parser.parseInline(tokens)
        if (depth === 1) return `<h1 id="${id}">${inline}</h1>\n`
        if (depth === 2) contents.push(`<li><a href="#${id}">${escaped(heading.replace(/`/g, ""))}</a></li>`)
        return `<h${depth} id="${id}"><a href="#${id}">${inline}</a></h${depth}>\n`
      },
      html: () => "",
      image: ({ href, text: alternative }) =>
        `<img src="${escaped(servedAt(name, href) ?? "")}" alt="${escaped(alternative)}">`,
      link({ href, tokens }) {
        const inline = this.parser.parseInline(tokens)
        const target = servedAt(name, href)
        return target === undefined ? inline : `<a href="${escaped(target)}">${inline}</a>`
      }
    },
    hooks: {
      postprocess: (html) =>
        html.replaceAll("<table>", '<div class="table" tabindex="0"><table>').replaceAll("</table>", "</table></div>")
    }
  })
  const body = marked.parse(text)
  const listed =
    contents.length < 4
      ? ""
      : `<nav class="contents" aria-label="On this page">On this page<ul>${contents.join("")}</ul></nav>`
  const [head, ...rest] = body.split(/(?<=<\/p>\n)/)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} · Coffer</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<header><nav aria-label="Documentation"><a href="/">Coffer</a>${doors.map(([path, door]) => `<a href="/docs/${path}">${door}</a>`).join("")}<a href="/docs">API</a></nav></header>
<main>
${head}${listed}${rest.join("")}</main>
<footer><a href="/docs/${name}.md">This page as text</a></footer>
</body>
</html>
`
}
