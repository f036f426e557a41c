import { createHash } from "node:crypto"

/** The style of all pages, without external resources. Its variables are those of the console. */
export const style = `
:root{color-scheme:light dark;--back:#f7f7f8;--card:#fff;--text:#17181c;--quiet:#5b5f69;--line:#e4e5e9;--strong-line:#cdd0d6;--accent:#2450b8;--on-accent:#fff;--bad:#b3232b;--bad-back:#fceeee}
@media (prefers-color-scheme:dark){:root{--back:#101113;--card:#17181b;--text:#ececef;--quiet:#a3a7b0;--line:#2a2c31;--strong-line:#43464e;--accent:#93b4ff;--on-accent:#0e1830;--bad:#ff9a94;--bad-back:#3a1f20}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1.5rem;background:var(--back);color:var(--text);font:1rem/1.5 system-ui,sans-serif}
main{width:100%;max-width:24rem;padding:2rem;background:var(--card);border:1px solid var(--line);border-radius:.75rem}
h1{margin:0 0 1.25rem;font-size:1.25rem;line-height:1.3}
p{margin:0 0 1rem;overflow-wrap:anywhere}
form{margin:0}
label{display:block;margin-bottom:.25rem;font-weight:600}
input{width:100%;margin-bottom:1rem;padding:.6rem .7rem;background:var(--back);color:inherit;border:1px solid var(--strong-line);border-radius:.4rem;font:inherit}
input.code{font-size:1.4rem;letter-spacing:.35em;text-align:center;font-variant-numeric:tabular-nums}
button,.button{display:block;width:100%;padding:.65rem .8rem;background:var(--accent);color:var(--on-accent);border:1px solid var(--accent);border-radius:.4rem;font:inherit;font-weight:600;text-align:center;text-decoration:none;cursor:pointer}
.second{background:transparent;color:var(--text);border-color:var(--strong-line)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
a{color:var(--accent)}
.or{display:flex;align-items:center;gap:.75rem;margin:1.25rem 0;color:var(--quiet);font-size:.875rem}
.or::before,.or::after{content:"";flex:1;border-top:1px solid var(--line)}
.error{padding:.6rem .75rem;border-left:3px solid var(--bad);background:var(--bad-back);color:var(--bad)}
.quiet{margin:1.25rem 0 0;color:var(--quiet);font-size:.875rem}
`

const hash = createHash("sha256").update(style).digest("base64")

/** No scripts, no external resources, no frames. Only this style, by its hash. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${hash}'`,
  "img-src data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'"
].join("; ")
