import { defineConfig } from 'tsdown'
import { library } from '../../tsdown.base.ts'

export default defineConfig(library(['src/step-functions/index.ts']))
