import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { type By, type Client, file, fresh } from "./Client.js"
import { folderOf, isThere, type Ran, run } from "./Run.js"

const provider = "terraform-provider-vault"

const providerOf = ({ key, namespace, role, url }: By) => `
provider "vault" {
  address                = "${url}"
  skip_child_token       = true
  skip_get_vault_version = true
  max_retries            = 0
  ${namespace === "" ? "" : `namespace = "${namespace}"`}
  auth_login {
    path       = "auth/approle/login"
    parameters = { role_id = "${role}", secret_id = "${key}" }
  }
}
`

/** Applies a configuration. What it writes to the file `value`, and its state, are printed too. */
const apply = async (by: By, text: string): Promise<Ran & { readonly state: string }> => {
  const folder = fresh(by)
  file(folder, "main.tf", providerOf(by) + text)
  const overrides = `dev_overrides {\n "hashicorp/vault" = "${folderOf(provider) ?? ""}"\n }`
  const variables = {
    HOME: folder,
    CHECKPOINT_DISABLE: "1",
    TF_CLI_CONFIG_FILE: file(folder, "terraformrc", `provider_installation {\n ${overrides}\n direct {}\n}`)
  }
  const words = ["apply", "-auto-approve", "-no-color", "-input=false", "-parallelism=4"]
  const ran = await run("terraform", words, variables, { cwd: folder, seconds: 300 })
  const read = (name: string) => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), "utf8") : "")
  return { ...ran, out: ran.out + read("value"), state: read("terraform.tfstate") }
}

const ephemeral = (env: string, count: number) => `
ephemeral "vault_kv_secret_v2" "env" {
  count = ${count}
  mount = "webshop"
  name  = "${env}"
}
resource "terraform_data" "use" {
  provisioner "local-exec" {
    command     = "printf %s \\"$VALUE\\" > value"
    environment = { VALUE = ephemeral.vault_kv_secret_v2.env[0].data.DATABASE_URL }
  }
}
`

/** Terraform with its provider for Vault. The values may not stand in its state. */
export const terraform: Client = {
  isThere: isThere("terraform") && isThere(provider),
  absent: /Unable to Read Resource from Vault/,
  read: async (by, env) => {
    const ran = await apply(by, ephemeral(env, 1))
    return ran.state.includes("postgres://") ? { ...ran, code: 99 } : ran
  },
  list: (by) =>
    apply(
      by,
      `data "vault_kv_secrets_list_v2" "all" {\n mount = "webshop"\n}
output "all" {\n value = nonsensitive(data.vault_kv_secrets_list_v2.all.names)\n}\n`
    ),
  write: (by) =>
    apply(
      by,
      `resource "vault_kv_secret_v2" "new" {\n mount = "webshop"\n name = "prod"\n data_json = jsonencode({ A = "b" })\n}\n`
    ),
  many: (by) => apply(by, ephemeral("prod", 1000))
}
