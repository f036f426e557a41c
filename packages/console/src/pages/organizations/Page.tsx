import { orgNameForm } from "@coffer/domain/NameForms"
import { call } from "../../client/Calls.js"
import { CreateForm } from "../../kit/CreateForm.js"
import { Link } from "../../routing/Link.js"
import { orgAddress } from "../../routing/Places.js"
import { navigate } from "../../routing/Router.js"
import { organizations } from "../../state/Organizations.js"
import { facts } from "../../state/Server.js"
import { me } from "../../state/Session.js"

const Create = () =>
  facts.value?.org_creation === "superadmin" && me.value?.is_superadmin !== true ? (
    <p class="quiet">Only superadmins create organizations on this server: ask one of them.</p>
  ) : (
    <CreateForm
      what="organization"
      example="acme"
      form={orgNameForm}
      create={(name) => call("organizations", (api) => api.create({ payload: { name } }))}
      done={(made) => {
        organizations.value = [...organizations.value, made]
        navigate(orgAddress(made.name))
      }}
    />
  )

/** The caller's organizations. The first page of a newcomer. */
export const Page = () => {
  const found = organizations.value
  if (found.length === 0) {
    return (
      <section class="narrow">
        <h1>Welcome to Coffer</h1>
        <p>
          An organization holds your projects, the people and machines that use them, and the log of everything that
          happens. You will be its owner.
        </p>
        <Create />
      </section>
    )
  }
  return (
    <section class="narrow">
      <h1>Organizations</h1>
      <ul class="cards">
        {found.map(({ name, role }) => (
          <li key={name}>
            <Link to={orgAddress(name)} class="card">
              <strong>{name}</strong>
              <span class="quiet">{role ?? "superadmin"}</span>
            </Link>
          </li>
        ))}
      </ul>
      <details class="more">
        <summary>New organization</summary>
        <Create />
      </details>
    </section>
  )
}
