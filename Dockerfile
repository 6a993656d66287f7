# Runbridge in a container: docs/deploy.md. Any Linux with glibc does; SQLite's native part wants one.
FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY . .
RUN npm ci --no-fund --no-audit && npm run build:js
# What runs, and nothing to build or test it with.
RUN rm -rf node_modules packages/*/node_modules \
  && npm ci --no-fund --no-audit --omit=dev --workspace packages/cli \
  && rm -rf packages/*/src packages/*/tsconfig.json test docs examples

FROM node:22-bookworm-slim
ENV NODE_ENV=production
COPY --from=build /app /app
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/packages/cli/dist/main.js"]
CMD ["serve", "--config", "/etc/runbridge/runbridge.yaml"]
