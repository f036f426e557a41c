// Written by packages/mcp/scripts/tool-list.mjs from Tools.ts: change that, then run npm run generate.
import type { Tool } from "@modelcontextprotocol/sdk/types.js"

/** The tools as `tools/list` returns them. */
export const tools: ReadonlyArray<Tool> = [
  {
    name: "secret_set",
    title: "Store a secret",
    description:
      "Creates a secret, or writes a new version of it; earlier versions are kept. Returns the key, the new version and the times, never the value. Use it to store a value that you were given or have made; pass expected_version where somebody else may have changed the secret meanwhile.",
    inputSchema: {
      type: "object",
      properties: {
        key: {
          type: "string",
          description: "The secret's key",
          examples: ["DATABASE_URL"],
          pattern: "^[A-Za-z_][A-Za-z0-9_.-]{0,99}$"
        },
        value: { type: "string", maxLength: 65536 },
        expected_version: {
          type: "integer",
          description:
            "Write only if this is the current version, 0 if the key must not exist yet; otherwise CONFLICT, and nothing changes",
          examples: [3],
          minimum: 0,
          maximum: 2147483647
        },
        org: {
          type: "string",
          description: "The organization's name; left out: SERVICE_ORG, else org in service.yml",
          examples: ["acme"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        project: {
          type: "string",
          description: "The project's name; left out: SERVICE_PROJECT, else project in service.yml",
          examples: ["webshop"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        env: {
          type: "string",
          description: "The environment's name; left out: SERVICE_ENV, else env in service.yml",
          examples: ["prod"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        }
      },
      required: ["key", "value"],
      additionalProperties: false
    },
    outputSchema: {
      type: "object",
      properties: {
        key: {
          type: "string",
          description:
            "a secret key has 1 to 100 characters: a letter or underscore first, then letters, digits, underscores, dots and hyphens",
          examples: ["DATABASE_URL"],
          pattern: "^[A-Za-z_][A-Za-z0-9_.-]{0,99}$"
        },
        version: {
          type: "integer",
          description: "a number between 0 and 2147483647",
          examples: [3],
          minimum: 0,
          maximum: 2147483647
        },
        created_at: { type: "string" },
        updated_at: { type: "string" }
      },
      required: ["key", "version", "created_at", "updated_at"],
      additionalProperties: false
    },
    annotations: {
      title: "Store a secret",
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: false
    }
  },
  {
    name: "secret_get",
    title: "Read a secret's value",
    description:
      "Returns the key, the value in plain text and the version; the read is written to the audit log. Use it only when the value itself is needed: secret_list tells which keys there are. Do not repeat the value in messages, files or logs.",
    inputSchema: {
      type: "object",
      properties: {
        key: {
          type: "string",
          description: "The secret's key",
          examples: ["DATABASE_URL"],
          pattern: "^[A-Za-z_][A-Za-z0-9_.-]{0,99}$"
        },
        org: {
          type: "string",
          description: "The organization's name; left out: SERVICE_ORG, else org in service.yml",
          examples: ["acme"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        project: {
          type: "string",
          description: "The project's name; left out: SERVICE_PROJECT, else project in service.yml",
          examples: ["webshop"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        env: {
          type: "string",
          description: "The environment's name; left out: SERVICE_ENV, else env in service.yml",
          examples: ["prod"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        }
      },
      required: ["key"],
      additionalProperties: false
    },
    outputSchema: {
      type: "object",
      properties: {
        key: {
          type: "string",
          description:
            "a secret key has 1 to 100 characters: a letter or underscore first, then letters, digits, underscores, dots and hyphens",
          examples: ["DATABASE_URL"],
          pattern: "^[A-Za-z_][A-Za-z0-9_.-]{0,99}$"
        },
        value: { type: "string", maxLength: 65536 },
        version: {
          type: "integer",
          description: "a number between 0 and 2147483647",
          examples: [3],
          minimum: 0,
          maximum: 2147483647
        }
      },
      required: ["key", "value", "version"],
      additionalProperties: false
    },
    annotations: {
      title: "Read a secret's value",
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false
    }
  },
  {
    name: "secret_list",
    title: "List secrets",
    description:
      "Returns the keys of an environment, each with its version and the time of its last change, without values. Use it to see which secrets there are, and before you write or delete one.",
    inputSchema: {
      type: "object",
      properties: {
        org: {
          type: "string",
          description: "The organization's name; left out: SERVICE_ORG, else org in service.yml",
          examples: ["acme"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        project: {
          type: "string",
          description: "The project's name; left out: SERVICE_PROJECT, else project in service.yml",
          examples: ["webshop"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        env: {
          type: "string",
          description: "The environment's name; left out: SERVICE_ENV, else env in service.yml",
          examples: ["prod"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        }
      },
      required: [],
      additionalProperties: false
    },
    outputSchema: {
      type: "object",
      properties: {
        data: {
          type: "array",
          items: {
            type: "object",
            required: ["key", "version", "updated_at"],
            properties: {
              key: {
                type: "string",
                description:
                  "a secret key has 1 to 100 characters: a letter or underscore first, then letters, digits, underscores, dots and hyphens",
                examples: ["DATABASE_URL"],
                pattern: "^[A-Za-z_][A-Za-z0-9_.-]{0,99}$"
              },
              version: {
                type: "integer",
                description: "a number between 0 and 2147483647",
                examples: [3],
                minimum: 0,
                maximum: 2147483647
              },
              updated_at: { type: "string" }
            },
            additionalProperties: false
          }
        }
      },
      required: ["data"],
      additionalProperties: false
    },
    annotations: {
      title: "List secrets",
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false
    }
  },
  {
    name: "secret_delete",
    title: "Delete a secret",
    description:
      "Removes a secret: programs that need it will fail. Returns what was removed, and where. Use it only when the user wants this key gone; a person can bring it back with the command-line client.",
    inputSchema: {
      type: "object",
      properties: {
        key: {
          type: "string",
          description: "The secret's key",
          examples: ["DATABASE_URL"],
          pattern: "^[A-Za-z_][A-Za-z0-9_.-]{0,99}$"
        },
        org: {
          type: "string",
          description: "The organization's name; left out: SERVICE_ORG, else org in service.yml",
          examples: ["acme"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        project: {
          type: "string",
          description: "The project's name; left out: SERVICE_PROJECT, else project in service.yml",
          examples: ["webshop"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        env: {
          type: "string",
          description: "The environment's name; left out: SERVICE_ENV, else env in service.yml",
          examples: ["prod"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        }
      },
      required: ["key"],
      additionalProperties: false
    },
    outputSchema: {
      type: "object",
      properties: {
        org: {
          type: "string",
          description:
            "an organization name: 2-50 lowercase letters, digits and hyphens, starting and ending with a letter or digit",
          examples: ["acme"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        project: {
          type: "string",
          description:
            "a project name: 2-50 lowercase letters, digits and hyphens, starting and ending with a letter or digit",
          examples: ["webshop"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        env: {
          type: "string",
          description:
            "an environment name: 2-50 lowercase letters, digits and hyphens, starting and ending with a letter or digit",
          examples: ["prod"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        key: {
          type: "string",
          description:
            "a secret key has 1 to 100 characters: a letter or underscore first, then letters, digits, underscores, dots and hyphens",
          examples: ["DATABASE_URL"],
          pattern: "^[A-Za-z_][A-Za-z0-9_.-]{0,99}$"
        },
        deleted: { type: "boolean", enum: [true] }
      },
      required: ["org", "project", "env", "key", "deleted"],
      additionalProperties: false
    },
    annotations: {
      title: "Delete a secret",
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
      openWorldHint: false
    }
  },
  {
    name: "project_create",
    title: "Create a project",
    description:
      "Creates a project with the environments dev, staging and prod. Returns the project. Use it when the user wants a new place for secrets; project_list tells which there are.",
    inputSchema: {
      type: "object",
      properties: {
        name: {
          type: "string",
          description: "The new project's name",
          examples: ["webshop"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        org: {
          type: "string",
          description: "The organization's name; left out: SERVICE_ORG, else org in service.yml",
          examples: ["acme"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        project: {
          type: "string",
          description: "The project's name; left out: SERVICE_PROJECT, else project in service.yml",
          examples: ["webshop"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        env: {
          type: "string",
          description: "The environment's name; left out: SERVICE_ENV, else env in service.yml",
          examples: ["prod"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        }
      },
      required: ["name"],
      additionalProperties: false
    },
    outputSchema: {
      type: "object",
      properties: {
        id: { type: "string" },
        name: {
          type: "string",
          description:
            "a project name: 2-50 lowercase letters, digits and hyphens, starting and ending with a letter or digit",
          examples: ["webshop"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        created_at: { type: "string" },
        updated_at: { type: "string" }
      },
      required: ["id", "name", "created_at", "updated_at"],
      additionalProperties: false
    },
    annotations: {
      title: "Create a project",
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: false,
      openWorldHint: false
    }
  },
  {
    name: "project_list",
    title: "List projects",
    description:
      "Returns the projects of an organization. Use it to find the name to pass as project in the other tools.",
    inputSchema: {
      type: "object",
      properties: {
        org: {
          type: "string",
          description: "The organization's name; left out: SERVICE_ORG, else org in service.yml",
          examples: ["acme"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        project: {
          type: "string",
          description: "The project's name; left out: SERVICE_PROJECT, else project in service.yml",
          examples: ["webshop"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        env: {
          type: "string",
          description: "The environment's name; left out: SERVICE_ENV, else env in service.yml",
          examples: ["prod"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        }
      },
      required: [],
      additionalProperties: false
    },
    outputSchema: {
      type: "object",
      properties: {
        data: {
          type: "array",
          items: {
            type: "object",
            required: ["id", "name", "created_at", "updated_at"],
            properties: {
              id: { type: "string" },
              name: {
                type: "string",
                description:
                  "a project name: 2-50 lowercase letters, digits and hyphens, starting and ending with a letter or digit",
                examples: ["webshop"],
                pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
              },
              created_at: { type: "string" },
              updated_at: { type: "string" }
            },
            additionalProperties: false
          }
        }
      },
      required: ["data"],
      additionalProperties: false
    },
    annotations: {
      title: "List projects",
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false
    }
  },
  {
    name: "project_delete",
    title: "Delete a project",
    description:
      "Removes a project with all its environments and secrets, at once and out of an agent's power to undo. Returns what was removed. Use it only when the user has named this very project to be deleted.",
    inputSchema: {
      type: "object",
      properties: {
        name: {
          type: "string",
          description: "The name of the project to remove",
          examples: ["webshop"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        org: {
          type: "string",
          description: "The organization's name; left out: SERVICE_ORG, else org in service.yml",
          examples: ["acme"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        project: {
          type: "string",
          description: "The project's name; left out: SERVICE_PROJECT, else project in service.yml",
          examples: ["webshop"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        env: {
          type: "string",
          description: "The environment's name; left out: SERVICE_ENV, else env in service.yml",
          examples: ["prod"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        }
      },
      required: ["name"],
      additionalProperties: false
    },
    outputSchema: {
      type: "object",
      properties: {
        org: {
          type: "string",
          description:
            "an organization name: 2-50 lowercase letters, digits and hyphens, starting and ending with a letter or digit",
          examples: ["acme"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        project: {
          type: "string",
          description:
            "a project name: 2-50 lowercase letters, digits and hyphens, starting and ending with a letter or digit",
          examples: ["webshop"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        deleted: { type: "boolean", enum: [true] }
      },
      required: ["org", "project", "deleted"],
      additionalProperties: false
    },
    annotations: {
      title: "Delete a project",
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
      openWorldHint: false
    }
  },
  {
    name: "env_create",
    title: "Create an environment",
    description:
      "Creates an environment in a project, without secrets. Returns the environment. Use it when the user wants another stage beside those that env_list tells.",
    inputSchema: {
      type: "object",
      properties: {
        name: {
          type: "string",
          description: "The new environment's name",
          examples: ["prod"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        org: {
          type: "string",
          description: "The organization's name; left out: SERVICE_ORG, else org in service.yml",
          examples: ["acme"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        project: {
          type: "string",
          description: "The project's name; left out: SERVICE_PROJECT, else project in service.yml",
          examples: ["webshop"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        env: {
          type: "string",
          description: "The environment's name; left out: SERVICE_ENV, else env in service.yml",
          examples: ["prod"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        }
      },
      required: ["name"],
      additionalProperties: false
    },
    outputSchema: {
      type: "object",
      properties: {
        id: { type: "string" },
        name: {
          type: "string",
          description:
            "an environment name: 2-50 lowercase letters, digits and hyphens, starting and ending with a letter or digit",
          examples: ["prod"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        created_at: { type: "string" },
        updated_at: { type: "string" }
      },
      required: ["id", "name", "created_at", "updated_at"],
      additionalProperties: false
    },
    annotations: {
      title: "Create an environment",
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: false,
      openWorldHint: false
    }
  },
  {
    name: "env_list",
    title: "List environments",
    description: "Returns the environments of a project. Use it to find the name to pass as env in the other tools.",
    inputSchema: {
      type: "object",
      properties: {
        org: {
          type: "string",
          description: "The organization's name; left out: SERVICE_ORG, else org in service.yml",
          examples: ["acme"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        project: {
          type: "string",
          description: "The project's name; left out: SERVICE_PROJECT, else project in service.yml",
          examples: ["webshop"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        env: {
          type: "string",
          description: "The environment's name; left out: SERVICE_ENV, else env in service.yml",
          examples: ["prod"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        }
      },
      required: [],
      additionalProperties: false
    },
    outputSchema: {
      type: "object",
      properties: {
        data: {
          type: "array",
          items: {
            type: "object",
            required: ["id", "name", "created_at", "updated_at"],
            properties: {
              id: { type: "string" },
              name: {
                type: "string",
                description:
                  "an environment name: 2-50 lowercase letters, digits and hyphens, starting and ending with a letter or digit",
                examples: ["prod"],
                pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
              },
              created_at: { type: "string" },
              updated_at: { type: "string" }
            },
            additionalProperties: false
          }
        }
      },
      required: ["data"],
      additionalProperties: false
    },
    annotations: {
      title: "List environments",
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false
    }
  },
  {
    name: "env_delete",
    title: "Delete an environment",
    description:
      "Removes an environment with all its secrets, at once and out of an agent's power to undo. Returns what was removed. Use it only when the user has named this very environment to be deleted.",
    inputSchema: {
      type: "object",
      properties: {
        name: {
          type: "string",
          description: "The name of the environment to remove",
          examples: ["prod"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        org: {
          type: "string",
          description: "The organization's name; left out: SERVICE_ORG, else org in service.yml",
          examples: ["acme"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        project: {
          type: "string",
          description: "The project's name; left out: SERVICE_PROJECT, else project in service.yml",
          examples: ["webshop"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        env: {
          type: "string",
          description: "The environment's name; left out: SERVICE_ENV, else env in service.yml",
          examples: ["prod"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        }
      },
      required: ["name"],
      additionalProperties: false
    },
    outputSchema: {
      type: "object",
      properties: {
        org: {
          type: "string",
          description:
            "an organization name: 2-50 lowercase letters, digits and hyphens, starting and ending with a letter or digit",
          examples: ["acme"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        project: {
          type: "string",
          description:
            "a project name: 2-50 lowercase letters, digits and hyphens, starting and ending with a letter or digit",
          examples: ["webshop"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        env: {
          type: "string",
          description:
            "an environment name: 2-50 lowercase letters, digits and hyphens, starting and ending with a letter or digit",
          examples: ["prod"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        deleted: { type: "boolean", enum: [true] }
      },
      required: ["org", "project", "env", "deleted"],
      additionalProperties: false
    },
    annotations: {
      title: "Delete an environment",
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
      openWorldHint: false
    }
  },
  {
    name: "org_list",
    title: "List organizations",
    description:
      "Returns the organizations that the credential belongs to, with the role in each: a service account has one, and no role. Use it to find the name to pass as org in the other tools.",
    inputSchema: {
      type: "object",
      properties: {
        org: {
          type: "string",
          description: "The organization's name; left out: SERVICE_ORG, else org in service.yml",
          examples: ["acme"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        project: {
          type: "string",
          description: "The project's name; left out: SERVICE_PROJECT, else project in service.yml",
          examples: ["webshop"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        env: {
          type: "string",
          description: "The environment's name; left out: SERVICE_ENV, else env in service.yml",
          examples: ["prod"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        }
      },
      required: [],
      additionalProperties: false
    },
    outputSchema: {
      type: "object",
      properties: {
        data: {
          type: "array",
          items: {
            type: "object",
            required: ["id", "name", "role", "created_at", "updated_at"],
            properties: {
              id: { type: "string" },
              name: {
                type: "string",
                description:
                  "an organization name: 2-50 lowercase letters, digits and hyphens, starting and ending with a letter or digit",
                examples: ["acme"],
                pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
              },
              role: {
                anyOf: [{ type: "string", examples: ["member", "developer", "admin", "owner"] }, { type: "null" }],
                description: "the caller's own role, if it has one"
              },
              created_at: { type: "string" },
              updated_at: { type: "string" }
            },
            additionalProperties: false
          }
        }
      },
      required: ["data"],
      additionalProperties: false
    },
    annotations: {
      title: "List organizations",
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false
    }
  },
  {
    name: "org_members_list",
    title: "List an organization's members",
    description:
      "Returns the people of an organization with e-mail address and role. Use it to tell who could grant a right; service accounts may not call it.",
    inputSchema: {
      type: "object",
      properties: {
        org: {
          type: "string",
          description: "The organization's name; left out: SERVICE_ORG, else org in service.yml",
          examples: ["acme"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        project: {
          type: "string",
          description: "The project's name; left out: SERVICE_PROJECT, else project in service.yml",
          examples: ["webshop"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        env: {
          type: "string",
          description: "The environment's name; left out: SERVICE_ENV, else env in service.yml",
          examples: ["prod"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        }
      },
      required: [],
      additionalProperties: false
    },
    outputSchema: {
      type: "object",
      properties: {
        data: {
          type: "array",
          items: {
            type: "object",
            required: ["user_id", "email", "name", "role", "created_at"],
            properties: {
              user_id: { type: "string" },
              email: { type: "string", maxLength: 254 },
              name: { type: "string" },
              role: { type: "string", examples: ["member", "developer", "admin", "owner"] },
              created_at: { type: "string" }
            },
            additionalProperties: false
          }
        }
      },
      required: ["data"],
      additionalProperties: false
    },
    annotations: {
      title: "List an organization's members",
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false
    }
  },
  {
    name: "acl_list",
    title: "List access rules",
    description:
      "Returns the access rules of an organization: who may read, write or administer which projects and environments. Use it to explain why something is FORBIDDEN; it takes an admin's rights.",
    inputSchema: {
      type: "object",
      properties: {
        org: {
          type: "string",
          description: "The organization's name; left out: SERVICE_ORG, else org in service.yml",
          examples: ["acme"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        project: {
          type: "string",
          description: "The project's name; left out: SERVICE_PROJECT, else project in service.yml",
          examples: ["webshop"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        env: {
          type: "string",
          description: "The environment's name; left out: SERVICE_ENV, else env in service.yml",
          examples: ["prod"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        }
      },
      required: [],
      additionalProperties: false
    },
    outputSchema: {
      type: "object",
      properties: {
        data: {
          type: "array",
          items: {
            type: "object",
            required: [
              "id",
              "subject_type",
              "subject_id",
              "project_pattern",
              "env_pattern",
              "permission",
              "created_by",
              "created_at",
              "updated_at"
            ],
            properties: {
              id: { type: "string" },
              subject_type: { type: "string", examples: ["user", "service_account"] },
              subject_id: { type: "string" },
              email: { type: "string", maxLength: 254, description: "the subject's address, when it is a user" },
              name: { type: "string", description: "the subject's name, when it is a service account" },
              project_pattern: { type: "string" },
              env_pattern: { type: "string" },
              permission: { type: "string", examples: ["read", "write", "admin"] },
              created_by: { type: "string", description: "the e-mail or service account name of the granter" },
              created_at: { type: "string" },
              updated_at: { type: "string" }
            },
            additionalProperties: false
          }
        }
      },
      required: ["data"],
      additionalProperties: false
    },
    annotations: {
      title: "List access rules",
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false
    }
  },
  {
    name: "audit_list",
    title: "Read the audit log",
    description:
      "Returns entries of an organization's audit log, newest first: who did what, when and from where, never a value. Where pagination.has_next is true, call again with after set to pagination.next_cursor. Use it to find out who read or changed something; it takes an admin's rights.",
    inputSchema: {
      type: "object",
      properties: {
        action: {
          type: "string",
          description: "Only this action",
          examples: ["secret.read"],
          pattern: "^[A-Za-z0-9_.@:-]{1,100}$"
        },
        actor: {
          type: "string",
          description: "Only this actor: an id, an e-mail address or a service account's name",
          pattern: "^[\\x21-\\x7e](?:[\\x20-\\x7e]{0,318}[\\x21-\\x7e])?$"
        },
        resource_type: {
          type: "string",
          description: "Only this type of resource",
          examples: ["secret"],
          pattern: "^[A-Za-z0-9_.@:-]{1,100}$"
        },
        in_project: {
          type: "string",
          description: "Only what happened in this project",
          examples: ["webshop"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        in_env: {
          type: "string",
          description: "Only what happened in this environment",
          examples: ["prod"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        key: {
          type: "string",
          description: "Only what happened to this key, also where a whole environment was read",
          examples: ["DATABASE_URL"],
          pattern: "^[A-Za-z_][A-Za-z0-9_.-]{0,99}$"
        },
        since: {
          type: "string",
          description:
            "a string matching the pattern ^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\\.[0-9]{1,3})?)?Z)?$",
          pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\\.[0-9]{1,3})?)?Z)?$"
        },
        until: {
          type: "string",
          description:
            "a string matching the pattern ^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\\.[0-9]{1,3})?)?Z)?$",
          pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\\.[0-9]{1,3})?)?Z)?$"
        },
        limit: { type: "integer", minimum: 1, maximum: 100 },
        after: {
          type: "string",
          description: "The next_cursor of the page before",
          pattern: "^([gs])([1-9][0-9]{0,14})$"
        },
        org: {
          type: "string",
          description: "The organization's name; left out: SERVICE_ORG, else org in service.yml",
          examples: ["acme"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        project: {
          type: "string",
          description: "The project's name; left out: SERVICE_PROJECT, else project in service.yml",
          examples: ["webshop"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        env: {
          type: "string",
          description: "The environment's name; left out: SERVICE_ENV, else env in service.yml",
          examples: ["prod"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        }
      },
      required: [],
      additionalProperties: false
    },
    outputSchema: {
      type: "object",
      properties: {
        data: {
          type: "array",
          items: {
            type: "object",
            required: [
              "id",
              "seq",
              "actor_type",
              "actor_id",
              "actor_name",
              "action",
              "resource_type",
              "resource_id",
              "org_id",
              "ip_address",
              "metadata",
              "created_at"
            ],
            properties: {
              id: { type: "string" },
              seq: {
                type: "integer",
                description: "a number between 0 and 2147483647",
                examples: [3],
                minimum: 0,
                maximum: 2147483647
              },
              actor_type: { type: "string", examples: ["user", "service_account", "system"] },
              actor_id: { anyOf: [{ type: "string" }, { type: "null" }] },
              actor_name: { type: "string" },
              action: {
                type: "string",
                examples: [
                  "auth.login",
                  "auth.logout",
                  "auth.verify",
                  "auth.verify_failed",
                  "auth.lockout",
                  "org.create",
                  "org.update",
                  "org.delete",
                  "org.member_invite",
                  "org.member_remove",
                  "org.member_role_update",
                  "project.create",
                  "project.update",
                  "project.delete",
                  "env.create",
                  "env.delete",
                  "env.revert",
                  "secret.set",
                  "secret.read",
                  "secret.delete",
                  "secret.copy",
                  "secret.undelete",
                  "secret.destroy",
                  "secret.decryption_failed",
                  "acl.grant",
                  "acl.revoke",
                  "service_account.create",
                  "service_account.revoke",
                  "service_account.rotate",
                  "user.disable",
                  "user.enable",
                  "user.end_sessions",
                  "backup.create",
                  "backup.restore",
                  "backup.drill",
                  "key.rotate",
                  "audit.break",
                  "access.denied"
                ]
              },
              resource_type: {
                type: "string",
                examples: [
                  "user",
                  "session",
                  "org",
                  "member",
                  "project",
                  "env",
                  "secret",
                  "acl_rule",
                  "service_account",
                  "backup",
                  "server"
                ]
              },
              resource_id: { anyOf: [{ type: "string" }, { type: "null" }] },
              org_id: { anyOf: [{ type: "string" }, { type: "null" }] },
              ip_address: { anyOf: [{ type: "string" }, { type: "null" }] },
              metadata: { type: "object", additionalProperties: true },
              created_at: { type: "string" }
            },
            additionalProperties: false
          }
        },
        pagination: {
          type: "object",
          required: ["total", "limit", "has_next", "next_cursor"],
          properties: {
            total: {
              type: "integer",
              description: "a number between 0 and 2147483647",
              examples: [3],
              minimum: 0,
              maximum: 2147483647
            },
            at_least: { type: "boolean" },
            limit: {
              type: "integer",
              description: "a number between 0 and 2147483647",
              examples: [3],
              minimum: 0,
              maximum: 2147483647
            },
            has_next: { type: "boolean" },
            next_cursor: { anyOf: [{ type: "string" }, { type: "null" }] }
          },
          additionalProperties: false
        }
      },
      required: ["data", "pagination"],
      additionalProperties: false
    },
    annotations: {
      title: "Read the audit log",
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false
    }
  },
  {
    name: "health_check",
    title: "Check the server",
    description:
      "Returns the status ok when the server answers, and an error that says why when it does not. It needs no credential. Use it first when other tools fail to reach the server.",
    inputSchema: {
      type: "object",
      properties: {
        org: {
          type: "string",
          description: "The organization's name; left out: SERVICE_ORG, else org in service.yml",
          examples: ["acme"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        project: {
          type: "string",
          description: "The project's name; left out: SERVICE_PROJECT, else project in service.yml",
          examples: ["webshop"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        },
        env: {
          type: "string",
          description: "The environment's name; left out: SERVICE_ENV, else env in service.yml",
          examples: ["prod"],
          pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
        }
      },
      required: [],
      additionalProperties: false
    },
    outputSchema: {
      type: "object",
      properties: { status: { type: "string", enum: ["ok"] } },
      required: ["status"],
      additionalProperties: false
    },
    annotations: {
      title: "Check the server",
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false
    }
  }
]

/** `secret_get` where it does not show values. */
export const secretCheck: Tool = {
  name: "secret_get",
  title: "Check that a secret exists",
  description:
    "Returns the key and the current version. The value is not shown: this server was started with SERVICE_MCP_REVEAL=0. Use it to make sure that a secret is there; programs get its value by coffer run.",
  inputSchema: {
    type: "object",
    properties: {
      key: {
        type: "string",
        description: "The secret's key",
        examples: ["DATABASE_URL"],
        pattern: "^[A-Za-z_][A-Za-z0-9_.-]{0,99}$"
      },
      org: {
        type: "string",
        description: "The organization's name; left out: SERVICE_ORG, else org in service.yml",
        examples: ["acme"],
        pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
      },
      project: {
        type: "string",
        description: "The project's name; left out: SERVICE_PROJECT, else project in service.yml",
        examples: ["webshop"],
        pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
      },
      env: {
        type: "string",
        description: "The environment's name; left out: SERVICE_ENV, else env in service.yml",
        examples: ["prod"],
        pattern: "^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$"
      }
    },
    required: ["key"],
    additionalProperties: false
  },
  outputSchema: {
    type: "object",
    properties: {
      key: {
        type: "string",
        description:
          "a secret key has 1 to 100 characters: a letter or underscore first, then letters, digits, underscores, dots and hyphens",
        examples: ["DATABASE_URL"],
        pattern: "^[A-Za-z_][A-Za-z0-9_.-]{0,99}$"
      },
      version: {
        type: "integer",
        description: "a number between 0 and 2147483647",
        examples: [3],
        minimum: 0,
        maximum: 2147483647
      }
    },
    required: ["key", "version"],
    additionalProperties: false
  },
  annotations: {
    title: "Check that a secret exists",
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false
  }
}
