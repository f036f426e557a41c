import { createHash } from "node:crypto"

/** The style of all pages, without external resources. Its variables are those of the console. */
export const style = `
:root{color-scheme:light dark;--back:#f6f6f4;--card:#fff;--text:#1c1d1f;--quiet:#5f6267;--line:#dfe0e1;--strong-line:#c3c5c9;--accent:#1f4e79;--on-accent:#fff;--bad:#a4262c;--bad-back:#fbecec}
@media (prefers-color-scheme:dark){:root{--back:#131416;--card:#1a1c1f;--text:#e8e9eb;--quiet:#a2a6ac;--line:#2c2f34;--strong-line:#454a52;--accent:#8ab8e6;--on-accent:#10202f;--bad:#ff9a94;--bad-back:#3a1f20}}
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
