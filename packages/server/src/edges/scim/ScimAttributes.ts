export const userSchema = "urn:ietf:params:scim:schemas:core:2.0:User"
export const groupSchema = "urn:ietf:params:scim:schemas:core:2.0:Group"

/** An attribute of a resource, as RFC 7643, section 7 describes it. */
export interface Attribute {
  readonly name: string
  readonly type: "string" | "boolean" | "complex" | "reference"
  readonly description: string
  readonly multiValued?: true
  readonly required?: true
  readonly caseExact?: true
  readonly mutability?: "readOnly" | "immutable"
  readonly uniqueness?: "server"
  readonly canonicalValues?: ReadonlyArray<string>
  readonly referenceTypes?: ReadonlyArray<string>
  readonly subAttributes?: ReadonlyArray<Attribute>
}

/** The roles that a directory gives. */
export const givenRoles = ["member", "developer", "admin"] as const

export const userAttributes: ReadonlyArray<Attribute> = [
  {
    name: "userName",
    type: "string",
    description: "The directory's name of the user; the e-mail address of the member, if emails has none",
    required: true,
    uniqueness: "server"
  },
  {
    name: "name",
    type: "complex",
    description: "The name of the person, which is kept and not shown",
    subAttributes: [
      { name: "formatted", type: "string", description: "The whole name" },
      { name: "familyName", type: "string", description: "The family name" },
      { name: "givenName", type: "string", description: "The given name" }
    ]
  },
  { name: "displayName", type: "string", description: "The name for display, which is kept and not shown" },
  {
    name: "emails",
    type: "complex",
    description: "E-mail addresses: the primary one, else that of work, else the first one is the member's",
    multiValued: true,
    required: true,
    subAttributes: [
      { name: "value", type: "string", description: "The address", required: true },
      { name: "type", type: "string", description: "Its kind", canonicalValues: ["work", "home", "other"] },
      { name: "primary", type: "boolean", description: "Whether it is the member's" }
    ]
  },
  {
    name: "active",
    type: "boolean",
    description: "Whether the person is a member of the organization",
    required: true
  },
  {
    name: "roles",
    type: "complex",
    description:
      "The role in the organization, if it is more than member: the highest of those given. Owners are made by owners",
    multiValued: true,
    subAttributes: [{ name: "value", type: "string", description: "The role", canonicalValues: givenRoles }]
  }
]

export const groupAttributes: ReadonlyArray<Attribute> = [
  {
    name: "displayName",
    type: "string",
    description: "The name of the group; in rules, other characters than those of names are hyphens",
    required: true,
    uniqueness: "server"
  },
  {
    name: "members",
    type: "complex",
    description: "The users in the group",
    multiValued: true,
    subAttributes: [
      { name: "value", type: "string", description: "The user's id", caseExact: true, mutability: "immutable" },
      {
        name: "$ref",
        type: "reference",
        description: "The user's address",
        caseExact: true,
        mutability: "immutable",
        referenceTypes: ["User"]
      },
      { name: "type", type: "string", description: "Always User", canonicalValues: ["User"], mutability: "immutable" }
    ]
  }
]

/** The attributes that all resources have (RFC 7643, section 3.1). */
export const commonAttributes: ReadonlyArray<Attribute> = [
  { name: "id", type: "string", description: "The id", caseExact: true, mutability: "readOnly" },
  { name: "externalId", type: "string", description: "The directory's own id", caseExact: true },
  {
    name: "meta",
    type: "complex",
    description: "About the resource",
    mutability: "readOnly",
    subAttributes: ["resourceType", "created", "lastModified", "location", "version"].map((name) => ({
      name,
      type: "string",
      description: name,
      caseExact: true,
      mutability: "readOnly"
    }))
  },
  {
    name: "schemas",
    type: "string",
    description: "The schemas of the resource",
    multiValued: true,
    caseExact: true,
    mutability: "readOnly"
  }
]

/** Attributes of RFC 7643 that directories send and that mean nothing here. */
const ignored: ReadonlySet<string> = new Set(
  [
    ...["nickName", "profileUrl", "title", "userType", "preferredLanguage", "locale", "timezone", "password"],
    ...["phoneNumbers", "ims", "photos", "addresses", "groups", "entitlements", "x509Certificates"]
  ].map((name) => name.toLowerCase())
)

export const isIgnored = (name: string): boolean => ignored.has(name.toLowerCase())

export const findAttribute = (attributes: ReadonlyArray<Attribute>, name: string): Attribute | undefined => {
  const wanted = name.toLowerCase()
  return attributes.find((attribute) => attribute.name.toLowerCase() === wanted)
}

/** A resource as JSON. */
export type Resource = Readonly<Record<string, unknown>>

/** The part of a path after the name of a core schema; null for an attribute of an extension, which is none here. */
export const withoutSchema = (path: string): string | null => {
  const lower = path.toLowerCase()
  for (const schema of [userSchema, groupSchema]) {
    if (lower.startsWith(`${schema.toLowerCase()}:`)) return path.slice(schema.length + 1)
  }
  return lower.startsWith("urn:") ? null : path
}
