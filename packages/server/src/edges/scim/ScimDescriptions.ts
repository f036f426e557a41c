import {
  type Attribute,
  groupAttributes,
  groupSchema,
  type Resource,
  userAttributes,
  userSchema
} from "./ScimAttributes.js"

export const maxResults = 200

/** How the service is used (RFC 7643, section 5). */
export const serviceProviderConfig = (base: string, origin: string): Resource => ({
  schemas: ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
  documentationUri: `${origin}/docs/scim`,
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults },
  changePassword: { supported: false },
  sort: { supported: true },
  etag: { supported: true },
  authenticationSchemes: [
    {
      type: "oauthbearertoken",
      name: "Bearer token",
      description: "The token that an owner of the organization made with coffer scim enable",
      specUri: "https://www.rfc-editor.org/info/rfc6750",
      primary: true
    }
  ],
  meta: { resourceType: "ServiceProviderConfig", location: `${base}/ServiceProviderConfig` }
})

const resourceType = (name: string, schema: string, description: string, base: string): Resource => ({
  schemas: ["urn:ietf:params:scim:schemas:core:2.0:ResourceType"],
  id: name,
  name,
  endpoint: `/${name}s`,
  description,
  schema,
  schemaExtensions: [],
  meta: { resourceType: "ResourceType", location: `${base}/ResourceTypes/${name}` }
})

export const resourceTypes = (base: string): ReadonlyArray<Resource> => [
  resourceType("User", userSchema, "The people of the organization whom the directory manages", base),
  resourceType("Group", groupSchema, "The groups of the organization that the directory manages", base)
]

const describe = ({ referenceTypes, canonicalValues, subAttributes, ...attribute }: Attribute): Resource => ({
  name: attribute.name,
  type: attribute.type,
  multiValued: attribute.multiValued ?? false,
  description: attribute.description,
  required: attribute.required ?? false,
  caseExact: attribute.caseExact ?? false,
  mutability: attribute.mutability ?? "readWrite",
  returned: "default",
  uniqueness: attribute.uniqueness ?? "none",
  ...(canonicalValues !== undefined && { canonicalValues }),
  ...(referenceTypes !== undefined && { referenceTypes }),
  ...(subAttributes !== undefined && { subAttributes: subAttributes.map(describe) })
})

const schema = (id: string, name: string, attributes: ReadonlyArray<Attribute>, base: string): Resource => ({
  schemas: ["urn:ietf:params:scim:schemas:core:2.0:Schema"],
  id,
  name,
  description: name,
  attributes: attributes.map(describe),
  meta: { resourceType: "Schema", location: `${base}/Schemas/${id}` }
})

export const schemas = (base: string): ReadonlyArray<Resource> => [
  schema(userSchema, "User", userAttributes, base),
  schema(groupSchema, "Group", groupAttributes, base)
]
