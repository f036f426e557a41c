import { setTimeout as sleep } from "node:timers/promises"
import { ask } from "../support/coffer.mjs"

const expect = (what, holds) => {
  if (!holds) throw new Error(`not as it should be: ${what}`)
}

const pick = (list) => list[Math.floor(Math.random() * list.length)]

/** Returns the value of a version, derived from key and version, so that readers can verify it. */
export const valueOf = (key, version) => `${key} at version ${version} `.padEnd(64, "x")

/**
 * The load of people and programs, each a loop. Every key has one writer, so the result of a read is known: at least the
 * last version that was acknowledged before the read, with its value.
 */
export const trafficOf = ({ backupMillis, done, mail, scene, server, written }) => {
  const { env, key, keys, org, owner } = scene
  const isSound = ({ key: name, value, version }, atLeast) => version >= atLeast && value === valueOf(name, version)

  const read = async () => {
    const name = pick(keys)
    const atLeast = written.get(name)
    const { body } = await ask(server, "GET", `${env}/secrets/${name}`, { key })
    done.reads++
    expect(`${name} at version ${body.version}, ${atLeast} being written`, isSound(body, atLeast))
  }

  const writer = (own) => async () => {
    const name = pick(own)
    const next = written.get(name) + 1
    const { body } = await ask(server, "PUT", `${env}/secrets/${name}`, { key, body: { value: valueOf(name, next) } })
    expect(`the version of ${name}`, body.version === next)
    written.set(name, next)
    done.writes++
  }

  const bundleWriter = (own) => async () => {
    const names = own.filter(() => Math.random() < 0.5)
    const set = Object.fromEntries(names.map((name) => [name, valueOf(name, written.get(name) + 1)]))
    await ask(server, "PATCH", `${env}/bundle`, { key, body: { set } })
    for (const name of names) written.set(name, written.get(name) + 1)
    done.bundleWrites++
    await sleep(200)
  }

  let revision = 0
  let etag
  const bundle = async () => {
    const before = new Map(written)
    const { body, headers } = await ask(server, "GET", `${env}/bundle`, { key })
    done.bundles++
    expect("a revision that goes on", body.revision >= revision)
    revision = body.revision
    etag = headers.get("etag")
    expect("a bundle of every key", body.data.length === keys.length)
    for (const secret of body.data) expect(`${secret.key} in a bundle`, isSound(secret, before.get(secret.key)))
    await sleep(20)
  }

  const poll = async () => {
    if (etag === undefined) return sleep(100)
    const answer = await fetch(`${server.url}${env}/bundle`, { headers: { "x-api-key": key, "if-none-match": etag } })
    const text = await answer.text()
    if (answer.status === 200) done.bundles++
    else expect(`a poll that was answered ${answer.status}`, answer.status === 304 && text === "")
    done.polls++
    await sleep(50)
  }

  const filters = ["", "action=secret.set", "resource_type=env", "action=secret.read&resource_type=env"]
  const audit = async () => {
    const base = `/api/orgs/${org}/audit-logs?limit=50&${pick(filters)}`
    let after = ""
    let above = Infinity
    for (let page = 0; page < 5; page++) {
      const { body } = await ask(server, "GET", base + after, { token: owner })
      for (const { seq } of body.data) {
        expect("entries newest first", seq < above)
        above = seq
      }
      done.auditPages++
      if (body.pagination.next_cursor === null) break
      after = `&after=${body.pagination.next_cursor}`
    }
    await sleep(50)
  }

  const logIn = async () => {
    const email = `person-${done.logins}@example.com`
    // Each from an address of its own: the server limits the login requests of one address.
    const address = `10.${done.logins >> 16}.${(done.logins >> 8) & 255}.${done.logins & 255}`
    await ask(server, "POST", "/api/auth/login", { body: { email }, headers: { "x-real-ip": address } })
    const code = await mail.code(email)
    const { body } = await ask(server, "POST", "/api/auth/verify", { body: { email, code } })
    const me = await ask(server, "GET", "/api/auth/me", { token: body.token })
    expect("the person who logged in", JSON.stringify(me.body).includes(email))
    await ask(server, "DELETE", "/api/auth/logout", { token: body.token })
    done.logins++
    await sleep(100)
  }

  const backup = async () => {
    const begun = performance.now()
    await ask(server, "POST", "/api/backups", { token: owner })
    done.backups++
    await sleep(Math.max(0, backupMillis - (performance.now() - begun)))
  }

  const third = Math.floor(keys.length / 3)
  return {
    reads: [read, read, read, read, read, read],
    writes: [writer(keys.slice(0, third)), writer(keys.slice(third, 2 * third))],
    bundleWrites: [bundleWriter(keys.slice(2 * third))],
    bundles: [bundle],
    polls: [poll],
    auditPages: [audit],
    logins: [logIn],
    backups: [backup]
  }
}
