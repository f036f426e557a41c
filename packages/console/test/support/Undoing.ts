import { type Json, Person } from "./Person.js"
import { Visit } from "./Visit.js"

/** A page with its person, a way to take back what was done, and the settings as the server has them. */
export const opened = async (org: string, address: string) => {
  const ada = await Person.login(`${org}@example.com`)
  await ada.organization(org, { dev: { API_KEY: "1" }, prod: { API_KEY: "2" } })
  const visit = await Visit.open(`/${org}/${address}`, ada)
  const read = (path: string): Promise<Json> => ada.call("GET", `/api/orgs/${org}${path}`)
  const undo = async () => {
    await visit.page.getByRole("button", { name: "Undo", exact: true }).click()
    await visit.sees("It was taken back.")
  }
  return { ada, page: visit.page, read, undo, visit }
}
