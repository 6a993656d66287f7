import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { EXIT } from './commands/exit.js'
import type { Io } from './commands/io.js'
import { untilSignal } from './commands/until-signal.js'
import { version } from './version.js'

const CONFIG = ['-c, --config <file>', 'the configuration', 'runbridge.yaml'] as const
const URL_OPTION = ['-u, --url <url>', 'where the server is', 'http://127.0.0.1:8080/mcp'] as const

/** Each command loads what it needs: a server has no use for the demo's engine, nor a client for AWS. */
const load = {
  serve: () => import('./commands/serve.js'),
  check: () => import('./commands/check.js'),
  token: () => import('./commands/token.js'),
  demo: () => import('./commands/demo.js'),
  call: () => import('./commands/call.js'),
  tasks: () => import('./commands/tasks.js'),
}

/** Runs the command line and gives its exit status. */
export async function program(argv: readonly string[], io: Io): Promise<number> {
  let status: number = EXIT.ok
  const run = async <M>(module: Promise<M>, command: (module: M) => Promise<number>) => {
    status = await command(await module)
  }
  const root = new Command('runbridge')
    .description('Serves the workflows that you already run as MCP tools, each call as a task.')
    .version(version)
    .showHelpAfterError('(runbridge --help lists the commands)')
    .exitOverride()

  root
    .command('serve')
    .description('serve the tools of a configuration over MCP')
    .option(...CONFIG)
    .option('-p, --port <port>', "instead of the configuration's; 0 lets the system choose", readPort)
    .addOption(
      new Option('--stdio', 'serve the host that starts this process, over its pipes').conflicts('port'),
    )
    .action((options: { config: string; port?: number; stdio?: boolean }) =>
      run(load.serve(), ({ serve }) => serve({ ...options, signal: untilSignal() }, io)),
    )
  root
    .command('check')
    .description('check a configuration, every workflow that it names and the permissions to run it')
    .option(...CONFIG)
    .action((options: { config: string }) =>
      run(load.check(), ({ check }) => check({ ...options, signal: untilSignal() }, io)),
    )
  root
    .command('token <name>')
    .description('make a token for a caller, and the hash by which a server knows it')
    .action((name: string) => run(load.token(), async ({ token }) => token(name, io)))
  root
    .command('demo')
    .description('watch six workflows of three engines run as tasks, on stand-ins inside this process')
    .action(() => run(load.demo(), ({ demo }) => demo({ signal: untilSignal() }, io)))
  root
    .command('call <tool>')
    .description('call a tool of a running server and follow it to its result')
    .option('-a, --args <json>', 'the arguments', '{}')
    .option(...URL_OPTION)
    .action((tool: string, options: { args: string; url: string }) =>
      run(load.call(), ({ call }) =>
        call(tool, { ...options, interactive: process.stdin.isTTY === true }, io),
      ),
    )

  const tasks = root.command('tasks').description('look at a task of a running server, answer it, cancel it')
  tasks
    .command('get <id>')
    .description('state, open questions and result')
    .option(...URL_OPTION)
    .action((id: string, { url }: { url: string }) =>
      run(load.tasks(), ({ getTask }) => getTask(url, id, io)),
    )
  tasks
    .command('answer <id>')
    .description('answer an open question')
    .option('--accept <json>', "accept, with the form's fields ({} where it has none)")
    .option('--decline', 'decline')
    .option('--key <key>', 'which question, where more than one is open')
    .option(...URL_OPTION)
    .action(
      (id: string, { url, ...answer }: { url: string; accept?: string; decline?: boolean; key?: string }) =>
        run(load.tasks(), ({ answerTask }) => answerTask(url, id, answer, io)),
    )
  tasks
    .command('cancel <id>')
    .description('ask the engine to stop the run')
    .option(...URL_OPTION)
    .action((id: string, { url }: { url: string }) =>
      run(load.tasks(), ({ cancelTask }) => cancelTask(url, id, io)),
    )

  try {
    await root.parseAsync(argv)
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  }
  return status
}

function readPort(text: string): number {
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65_535) return port
  throw new InvalidArgumentError('Write a number from 0 to 65535.')
}
