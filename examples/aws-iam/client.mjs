// The official client against a server that AWS guards by IAM (`-c callers=iam`): lists its tools, or calls one.
// node examples/aws-iam/client.mjs https://….lambda-url.eu-central-1.on.aws/mcp [TOOL [ARGUMENTS AS JSON]]
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { signedFetch } from './signed-fetch.mjs'

const [url = '', name, args = '{}'] = process.argv.slice(2)
if (!URL.canParse(url)) throw new Error('Give the address of the server, as the stack prints it.')

const { SERVICE: service, REGION: region } = process.env
const client = new Client(
  { name: 'signing-client', version: '1.0.0' },
  { versionNegotiation: { mode: 'auto' } },
)
await client.connect(
  new StreamableHTTPClientTransport(new URL(url), { fetch: signedFetch({ service, region }) }),
)
const answer = name
  ? (await client.callTool({ name, arguments: JSON.parse(args) })).content
  : (await client.listTools()).tools.map((tool) => `${tool.name}: ${tool.description}`)
process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`)
await client.close()
