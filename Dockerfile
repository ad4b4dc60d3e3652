# Runs the quick start of README.md in a container: docker build -t gaia-mesh . && docker run --rm gaia-mesh
# Agents are processes in it, and all sockets are on its own loopback: no port is published.
FROM node:24-bookworm-slim
WORKDIR /gaia-mesh
# Sockets, files and agents need no rights; results go into this folder.
RUN chown node:node /gaia-mesh
USER node
COPY --chown=node:node . .
RUN npm ci
CMD ["npm", "run", "bench"]
