import { type Problem, problemsOf } from './problems.js'
import { duplicateNames, toolProblems } from './rules.js'
import { type Config, configSchema } from './schema.js'
import { toolSchema } from './tool-schema.js'

/** What a configuration file holds, by the schema and the rules. Without a problem there is a configuration. */
export function checkValue(value: unknown): { config: Config | undefined; problems: Problem[] } {
  const parsed = configSchema.safeParse(value)
  const problems = [...(parsed.success ? [] : problemsOf(parsed.error.issues, value)), ...rulesOfTools(value)]
  return { config: parsed.data, problems }
}

/** The rules of every tool that has the right shape, so that one wrong tool hides nothing of the others. */
function rulesOfTools(value: unknown): Problem[] {
  const tools: unknown = (value as { tools?: unknown }).tools
  if (!Array.isArray(tools)) return []
  const rules = tools.flatMap((entry: unknown, index) => {
    const tool = toolSchema.safeParse(entry)
    if (!tool.success) return []
    return toolProblems(tool.data).map((problem) => ({ ...problem, path: ['tools', index, ...problem.path] }))
  })
  return [...duplicateNames(tools.map((tool: { name?: unknown } | null) => tool?.name)), ...rules]
}
