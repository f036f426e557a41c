export const org = "thirty"

/** The address of a person by the first name. */
export const of = (name: string) => `${name}@thirty.example.com`

const line = (name: string, role: string, ...rules: ReadonlyArray<string>) =>
  `${of(name)},${role},${rules.length === 0 ? "" : `"${rules.join(" ")}"`}\n`

/** The people for whom access has to be requested: the file has no rule for them. */
export const newcomers = ["xena", "yuri", "zoe"]

/** Thirty people to invite, as a CSV file. */
export const peopleFile = [
  "email,role,rules\n",
  line("bob", "developer", "*/{dev,staging}:write"),
  line("carol", "developer", "*/dev:read", "*/staging:write"),
  line("dan", "developer", "*/dev:write"),
  line("grace", "admin"),
  ...Array.from({ length: 23 }, (_, index) => line(`person-${index}`, "developer", "*/{dev,staging}:write")),
  ...newcomers.map((name) => line(name, "member"))
].join("")

/** The same file as it was first: line 4 has no address, line 5 an unknown role, and line 6 no rule. */
export const mistakenFile = peopleFile
  .replace(of("dan"), "dan at thirty")
  .replace(",admin,", ",king,")
  .replace(/(person-0@.*?)"[^"]*"/, "$1webshop")

const envFile = (env: string, more = "") =>
  `DATABASE_URL=postgres://app:canary-${env}@db.internal/app\nSESSION_KEY=canary-${env}-session\nLOG_LEVEL=${env}\n${more}`

/** The same in another format, by how a line of it is. */
const as = (spelling: string) => (env: string) => envFile(env).replaceAll(/^(\w+)=(.*)$/gm, spelling)

const shell = as("export $1='$2'")
const yaml = as('$1: "$2"')
const json = (env: string) => `{${as('"$1": "$2"')(env).trim().replaceAll("\n", ",\n")}}`

/** Six projects in four kinds of files, one for each environment. A file without a name is pasted. */
export const projects: ReadonlyArray<{
  readonly project: string
  readonly name: (env: string) => string
  readonly text: (env: string) => string
}> = [
  { project: "webshop", name: () => "", text: (env) => envFile(env, `STRIPE_KEY=canary-${env}-stripe\n`) },
  { project: "website", name: () => "", text: json },
  { project: "billing", name: (env) => `billing-${env}.yaml`, text: yaml },
  { project: "mobile", name: (env) => `mobile-${env}.sh`, text: shell },
  { project: "reports", name: (env) => `.env.${env}`, text: envFile },
  { project: "search", name: (env) => `${env}.json`, text: json }
]
