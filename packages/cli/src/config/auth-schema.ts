import { JWT_ALGORITHMS } from '@runbridge/server'
import * as z from 'zod'
import { text } from './fields.js'

/** RFC 6749, 3.3. */
const scope = z.string().regex(/^[\x21\x23-\x5B\x5D-\x7E]+$/, 'is no scope: one word, without quotes')

export const scopes = (description: string) => z.array(scope).min(1).describe(description)

const issuer = z.strictObject({
  issuer: z.url().describe('The authorization server, exactly as its tokens name it in `iss`'),
  audience: z
    .union([text('A name'), z.array(text('A name')).min(1)])
    .optional()
    .describe('What its tokens for this server carry in `aud`; one or a list. Default: `resourceUrl`'),
  jwksUri: z.url().optional().describe('Where it publishes its keys. Default: what its own metadata says'),
  scopes: scopes('Scopes that each of its tokens needs, all of them. Default: none').optional(),
  algorithms: z
    .array(z.enum(JWT_ALGORITHMS))
    .min(1)
    .optional()
    .describe('The signatures that count. Default: all by a key pair; never `none`, never a shared secret'),
  clockToleranceMs: z
    .int()
    .min(0)
    .max(300_000)
    .optional()
    .describe('How far its clock may be from ours, in milliseconds. Default: 30000'),
})

const token = z.strictObject({
  name: text('Who sends it. Several of one name are one caller, so that a new one can replace an old one'),
  sha256: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/, 'is no SHA-256: `runbridge token` makes a token and prints its hash')
    .describe('The hash of the token, as `runbridge token` prints it'),
  expires: z
    .union([z.iso.date(), z.iso.datetime({ offset: true })])
    .optional()
    .describe('The day or the moment from which it does not count any more. Default: never'),
  scopes: scopes('What it may do, where tools ask for scopes. Default: none').optional(),
})

export const authSchema = z
  .strictObject({
    resourceUrl: z
      .url()
      .optional()
      .describe(
        'Where clients reach `/mcp`, as they write it. Needed for `jwt` and for any `host` but loopback; its host is accepted without `allowedHosts`',
      ),
    jwt: z.array(issuer).min(1).optional().describe('Authorization servers whose access tokens are accepted'),
    tokens: z
      .array(token)
      .min(1)
      .optional()
      .describe('Tokens of your own, for small set-ups. Only their hashes are written down'),
  })
  .refine(
    ({ jwt, tokens }) => jwt !== undefined || tokens !== undefined,
    'admits nobody: name an authorization server under `jwt` or a token under `tokens`',
  )
  .refine(
    ({ jwt, resourceUrl }) => jwt === undefined || resourceUrl !== undefined,
    'needs `resourceUrl` beside `jwt`: the tokens of an authorization server are meant for one resource',
  )
  .describe(
    'Who may call. Without it everybody who reaches the port is one owner, `local`, and only loopback is listened on',
  )
