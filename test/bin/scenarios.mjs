/**
 * The scenarios of @modelcontextprotocol/conformance for servers of 2026-07-28 and 2025-11-25: which run here, and why
 * the others don't. Every scenario of the suite for a revision stands in exactly one list of it.
 */

/** The extension's own. The suite takes them for no revision's, so it is given none. */
export const TASK_SCENARIOS = [
  'tasks-lifecycle',
  'tasks-capability-negotiation',
  'tasks-wire-fields',
  'tasks-request-state-removal',
  'tasks-mrtr-input',
  'tasks-request-headers',
  'tasks-dispatch-and-envelope',
  'tasks-status-notifications',
  'tasks-required-task-error',
  'tasks-mrtr-composition',
]

export const GENERAL_SCENARIOS = [
  'server-stateless',
  'tools-list',
  'tools-call-simple-text',
  'tools-call-error',
  'tools-call-with-progress',
  'json-schema-2020-12',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
  'caching',
  'resources-list',
  'sep-2164-resource-not-found',
  'http-header-validation',
  'input-required-result-basic-elicitation',
  'input-required-result-request-state',
  'input-required-result-multi-round',
  'input-required-result-missing-input-response',
  'input-required-result-result-type',
  'input-required-result-unsupported-methods',
  'input-required-result-tampered-state',
  'input-required-result-validate-input',
]

/** Of 2025-11-25, whose sessions the same server keeps: "NAME@2025-11-25", since the suite has some for both revisions. */
export const OLDER_SCENARIOS = [
  'server-initialize@2025-11-25',
  'server-session-lifecycle@2025-11-25',
  'ping@2025-11-25',
  'tools-list@2025-11-25',
  'tools-call-simple-text@2025-11-25',
  'tools-call-error@2025-11-25',
  'tools-call-with-progress@2025-11-25',
  'tools-call-elicitation@2025-11-25',
  'json-schema-2020-12@2025-11-25',
  'server-sse-multiple-streams@2025-11-25',
  'dns-rebinding-protection@2025-11-25',
  'elicitation-sep1034-defaults@2025-11-25',
  'resources-list@2025-11-25',
]

/** @type {Readonly<Record<string, string>>} */
export const OLDER_NOT_FOR_US = {
  'logging-set-level': 'no messages to clients: logs are the operator’s',
  'tools-call-with-logging': 'no messages to clients: logs are the operator’s',
  'tools-call-sampling': 'no sampling',
  'elicitation-sep1330-enums': 'a question of a gate has no lists: each of its fields is one value',
  'server-sse-polling': 'streams are not resumed: a client that lost one asks for its task again',
  'completion-complete': 'no completions',
  'tools-call-image': 'results of runs are text and JSON',
  'tools-call-audio': 'results of runs are text and JSON',
  'tools-call-embedded-resource': 'results of runs are text, JSON and links',
  'tools-call-mixed-content': 'results of runs are text, JSON and links',
  'resources-read-text': 'reads resources of its own, and there are those of tasks alone',
  'resources-read-binary': 'reads resources of its own, and there are those of tasks alone',
  'resources-templates-read': 'reads resources of its own, and there are those of tasks alone',
  'resources-subscribe': 'tasks have notifications of their own',
  'resources-unsubscribe': 'tasks have notifications of their own',
  'prompts-list': 'no prompts',
  'prompts-get-simple': 'no prompts',
  'prompts-get-with-args': 'no prompts',
  'prompts-get-embedded-resource': 'no prompts',
  'prompts-get-with-image': 'no prompts',
}

/** @type {Readonly<Record<string, string>>} */
export const NOT_FOR_US = {
  'completion-complete': 'no completions',
  'tools-call-image': 'results of runs are text and JSON',
  'tools-call-audio': 'results of runs are text and JSON',
  'tools-call-embedded-resource': 'results of runs are text, JSON and links',
  'tools-call-mixed-content': 'results of runs are text, JSON and links',
  'resources-read-text': 'reads resources of its own, and there are those of tasks alone',
  'resources-read-binary': 'reads resources of its own, and there are those of tasks alone',
  'resources-templates-read': 'reads resources of its own, and there are those of tasks alone',
  'prompts-list': 'no prompts',
  'prompts-get-simple': 'no prompts',
  'prompts-get-with-args': 'no prompts',
  'prompts-get-embedded-resource': 'no prompts',
  'prompts-get-with-image': 'no prompts',
  'http-custom-header-server-validation': 'a schema with x-mcp-header is refused: arguments go in the body',
  'input-required-result-basic-sampling': 'no sampling',
  'input-required-result-basic-list-roots': 'no roots',
  'input-required-result-multiple-input-requests': 'asks for sampling and roots',
  'input-required-result-non-tool-request': 'no prompts',
  'input-required-result-capability-check':
    'expects sampling in place of an elicitation that the client can not answer',
  'input-required-result-ignore-extra-params':
    'sends answers without the request state, which must be verified before any answer counts',
  'sep-2640-skills-directory': 'another extension',
  'sep-2640-skills-enumeration': 'another extension',
  'sep-2640-skills-manifest': 'another extension',
}

/**
 * Single checks that don't fit in a scenario that does, by scenario and check id. They are named in the output and
 * count for nothing; one that passes is an error, so that this list can't outlive its reasons.
 * @type {Readonly<Record<string, Readonly<Record<string, string>>>>}
 */
export const NOT_COUNTED = {
  'server-stateless': {
    'sep-2575-server-rejects-undeclared-capability':
      'needs a tool that demands sampling; Runbridge never samples',
    'sep-2575-missing-capability-http-400': 'needs a tool that demands sampling; Runbridge never samples',
    'sep-2575-server-sends-prompts-list-changed-on-subscription': 'no prompts',
    'sep-2575-server-sends-tools-list-changed-on-subscription':
      'the list of tools changes with a restart alone',
  },
  caching: {
    'sep-2549-prompts-list-caching-hints': 'no prompts',
  },
}

/** Checks that the suite itself skips for every server. */
export const ALWAYS_SKIPPED = ['tasks-status-notifications']
