/** What the runtime client and Node.js take by themselves. */
export const handler = async () => ({ statusCode: 200 })
